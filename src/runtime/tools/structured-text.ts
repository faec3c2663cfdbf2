import { parseKeepingDigits } from '../../core/json/digits.ts';
import { stringifyWithRaw } from '../../core/json/raw.ts';
import { isJsonObject } from '../../core/json/value.ts';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const NAME = '"structuredContent"';

/**
 * The body of an answer with its structured results as texts, because the client of the SDK parses it and would
 * round their numbers. Bytes are kept until their line is complete, of a body that is no stream until its end.
 */
export async function* withStructuredTexts(
  chunks: AsyncIterable<Uint8Array>,
  isStream: boolean,
): AsyncGenerator<Uint8Array> {
  let kept: Uint8Array[] = [];
  for await (const chunk of chunks) {
    const end = isStream ? endOfLines(chunk) : 0;
    if (end > 0) {
      yield rewrite(Buffer.concat([...kept, chunk.subarray(0, end)]), isStream);
      kept = [];
    }
    kept.push(chunk.subarray(end));
  }
  yield rewrite(Buffer.concat(kept), isStream);
}

function endOfLines(chunk: Uint8Array): number {
  return Math.max(chunk.lastIndexOf(LINE_FEED), chunk.lastIndexOf(CARRIAGE_RETURN)) + 1;
}

function rewrite(bytes: Buffer, isStream: boolean): Uint8Array {
  if (!bytes.includes(NAME)) return bytes;
  const text = bytes.toString();
  const parts = isStream ? text.split(/(?<=[\r\n])/) : [text];
  return Buffer.from(parts.map(withStructuredText).join(''));
}

/** A part that is no message of JSON-RPC remains as it is. */
function withStructuredText(part: string): string {
  const start = part.search(/[[{]/);
  if (start < 0 || !part.includes(NAME)) return part;
  const json = part.slice(start).trimEnd();
  try {
    const message = parseKeepingDigits(json);
    for (const one of [message].flat()) {
      const result = isJsonObject(one) ? one['result'] : undefined;
      if (isJsonObject(result) && isJsonObject(result['structuredContent']))
        result['structuredContent'] = stringifyWithRaw(result['structuredContent']);
    }
    return `${part.slice(0, start)}${stringifyWithRaw(message)}${part.slice(start + json.length)}`;
  } catch {
    return part;
  }
}
