import type { Citation } from '../../../canonical/canonical.ts';
import { fieldOf, listOf, membersOf, textOf } from '../../fields.ts';
import type { Members } from '../../fields.ts';
import type { TextOffsets } from './text-offsets.ts';

/** A source, with offsets in bytes of the text of one part. */
export interface Grounding extends Citation {
  /** The part's index in the content, where it is given. */
  readonly part?: number;
}

/**
 * The sources of a candidate: the web pages that it was grounded in, and recited works. Offsets are
 * in bytes.
 */
export function readGrounding(candidate: Members): Grounding[] {
  return [...readSupports(membersOf(candidate, 'groundingMetadata')), ...readRecited(candidate)];
}

function readSupports(metadata: Members): Grounding[] {
  const pages = listOf(metadata, 'groundingChunks').map((chunk) => readPage(chunk['web']));
  const used = new Set<number>();
  const supported = listOf(metadata, 'groundingSupports').flatMap((support) => {
    const segment = membersOf(support, 'segment');
    const indices = fieldOf(support, 'groundingChunkIndices');
    return (Array.isArray(indices) ? indices : []).flatMap((index: unknown) => {
      const page = pages[Number(index)];
      if (!page) return [];
      used.add(Number(index));
      return [{ ...page, ...readSegment(segment) }];
    });
  });
  return [
    ...supported,
    ...pages.filter((page, index) => page !== undefined && !used.has(index)),
  ].filter((page) => page !== undefined);
}

function readPage(web: unknown): Citation | undefined {
  const page = membersOf({ web }, 'web');
  const url = textOf(page, 'uri');
  const title = textOf(page, 'title');
  return url === undefined ? undefined : { url, ...(title !== undefined && { title }) };
}

function readSegment(segment: Members): Omit<Grounding, 'url'> {
  const part = countOf(segment['partIndex']);
  const quote = textOf(segment, 'text');
  return {
    ...readRange(segment),
    ...(quote && { quote }),
    ...(part !== undefined && { part }),
  };
}

/** `citationMetadata`, whose list has one name in each of Google's two APIs. */
function readRecited(candidate: Members): Grounding[] {
  const metadata = membersOf(candidate, 'citationMetadata');
  const sources = [...listOf(metadata, 'citationSources'), ...listOf(metadata, 'citations')];
  return sources.flatMap((source) => {
    const page = readPage(source);
    return page ? [{ ...page, ...readRange(source) }] : [];
  });
}

/** A start of 0 is left out on the wire. */
function readRange({ startIndex, endIndex }: Members): { start?: number; end?: number } {
  const end = countOf(endIndex);
  return end === undefined ? {} : { start: countOf(startIndex) ?? 0, end };
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The citation with its offsets in characters of its text. */
export function toCitation(
  { part: _part, start, end, ...rest }: Grounding,
  text: TextOffsets,
): Citation {
  const from = start === undefined ? undefined : text.toChars(start);
  const to = end === undefined ? undefined : text.toChars(end);
  return from === undefined || to === undefined ? rest : { ...rest, start: from, end: to };
}

/** The grounding with its offsets in bytes of its text. */
export function toGrounding(citation: Citation, text: TextOffsets, part?: number): Grounding {
  const { start, end, ...rest } = citation;
  const from = start === undefined ? undefined : text.toBytes(start);
  const to = end === undefined ? undefined : text.toBytes(end);
  return {
    ...rest,
    ...(from !== undefined && to !== undefined && { start: from, end: to }),
    ...(part !== undefined && { part }),
  };
}

/** `groundingMetadata` of these sources. */
export function writeGrounding(groundings: readonly Grounding[]): object {
  const supports = groundings.flatMap(({ start, end, quote, part }, index) =>
    end === undefined && quote === undefined
      ? []
      : [
          {
            segment: {
              ...(part !== undefined && { partIndex: part }),
              ...(end !== undefined && { startIndex: start, endIndex: end }),
              ...(quote !== undefined && { text: quote }),
            },
            groundingChunkIndices: [index],
          },
        ],
  );
  return {
    groundingChunks: groundings.map(({ url, title }) => ({
      web: { uri: url, ...(title !== undefined && { title }) },
    })),
    ...(supports.length > 0 && { groundingSupports: supports }),
  };
}
