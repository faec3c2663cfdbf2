export type GuessedType = 'llm' | 'embedding' | 'image' | 'video' | 'audio';

/** Words in names by which vendors mark the output of a model; all others are language models. */
const TYPES: readonly (readonly [GuessedType, RegExp])[] = [
  ['embedding', /embed|(^|[-_/:.])(bge|e5|gte|minilm)([-_/:.]|$)/i],
  [
    'image',
    /gpt-image|dall-e|imagen|image-generation|stable-diffusion|sdxl|(^|[-_/:.])flux([-_/:.]|$)/i,
  ],
  ['video', /(^|[-_/:.])(sora|veo)([-_/:.\d]|$)/i],
  ['audio', /whisper|transcribe|(^|[-_/:.])tts([-_/:.\d]|$)/i],
];

/** Type of an undeclared model, by the provider's name of it. */
export function guessType(name: string): GuessedType {
  return TYPES.find(([, words]) => words.test(name))?.[0] ?? 'llm';
}
