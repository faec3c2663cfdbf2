import type { ProtocolParts } from '../protocol-parts.ts';
import { generateContentCodec } from './codec/generate-content-codec.ts';
import { generateContent } from './generate-content.ts';
import { surfacesOf } from './surfaces.ts';

export const parts: ProtocolParts = {
  wire: generateContent,
  codec: generateContentCodec,
  surfaces: surfacesOf,
};
