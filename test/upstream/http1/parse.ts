import { ResponseParser } from '../../../src/upstream/http1/response-parser.ts';
import type { ResponseHead } from '../../../src/upstream/http1/response-head.ts';

/** What a parser made of an answer that came in pieces. */
export interface Parsed {
  outcome: 'complete' | 'incomplete' | 'error';
  head: ResponseHead | undefined;
  body: string;
  error: string | undefined;
  /** Bytes after the answer. */
  left: number;
}

/** As a connection does it: one read after the other, until there is nothing more to know. */
export function parse(pieces: readonly Buffer[], options: { method?: string } = {}): Parsed {
  const parser = new ResponseParser(options.method ?? 'POST');
  const parsed: Parsed = {
    outcome: 'incomplete',
    head: undefined,
    body: '',
    error: undefined,
    left: 0,
  };
  for (const piece of pieces) {
    if (parsed.outcome !== 'incomplete') {
      parsed.left += piece.length;
      continue;
    }
    // A connection's reads share one buffer, of which a parser may keep nothing.
    const bytes = Buffer.concat([piece, Buffer.from('left over from before')]);
    parser.push(bytes, piece.length);
    parsed.head ??= parser.head;
    parsed.body += parser.data?.toString('latin1') ?? '';
    bytes.fill('?');
    if (parser.error) parsed.outcome = 'error';
    else if (parser.complete) parsed.outcome = 'complete';
    parsed.error = parser.error?.message;
    if (parser.overrun) parsed.left += 1;
  }
  if (parsed.outcome === 'incomplete' && parser.finish()) parsed.outcome = 'complete';
  return parsed;
}
