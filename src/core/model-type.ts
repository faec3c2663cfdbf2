/** Kind of work that a model does; it decides at which endpoints it can be called. */
export type ModelType = 'llm' | 'embedding' | 'image' | 'video' | 'audio' | 'api';
