import { collectSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import { GatewayError } from '../../core/errors.ts';
import type { DocumentPart, Part, Turn } from '../canonical/canonical.ts';
import { isPdf, readTextFile } from '../media/file-text.ts';

type Types = readonly string[] | null;

/**
 * Turns whose documents a model takes: those that it does not take as bytes become text documents.
 *
 * @throws GatewayError `unsupported_feature` for a document that is neither
 */
export function* fitDocuments(turns: readonly Turn[], types: Types): Steps<readonly Turn[]> {
  if (types === null) return turns;
  return yield* collectSteps(turns, (turn) => {
    const parts = turn.parts.map((part) => fitPart(part, types));
    return [parts.every((part, index) => part === turn.parts[index]) ? turn : { ...turn, parts }];
  });
}

function fitPart<T extends Part>(part: T, types: readonly string[]): T {
  if (part.type === 'document') return fitDocument(part, types) as T;
  if (part.type !== 'tool_result') return part;
  const content = part.content.map((one) => fitPart(one, types));
  const isSame = content.every((one, index) => one === part.content[index]);
  return isSame ? part : { ...part, content };
}

function fitDocument(part: DocumentPart, types: readonly string[]): DocumentPart {
  const { source } = part;
  if (source.type !== 'data' || types.includes(source.mediaType)) return part;
  if (isPdf(source.data) && types.includes('application/pdf'))
    return { ...part, source: { ...source, mediaType: 'application/pdf' } };
  const text = readTextFile(source);
  if (text !== undefined) return { ...part, source: { type: 'text', text } };
  const message = `a document of the type ${source.mediaType} is not supported by this route; it takes ${types.join(', ')} and text`;
  throw new GatewayError('unsupported_feature', { message });
}
