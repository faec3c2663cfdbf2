/** The wire formats that a provider can speak. */
export const PROTOCOLS = [
  'chat',
  'responses',
  'messages',
  'generate-content',
  'interactions',
  'embeddings',
  'images',
  'videos',
] as const;

export type Protocol = (typeof PROTOCOLS)[number];
