import { parseKeepingRaw, stringifyWithRaw } from '../../core/json/raw.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { capabilitiesOf } from '../capabilities/capabilities-of.ts';
import type { EncodeOptions, RequestPeek } from '../protocol.ts';
import { isForeignToken, TOKEN_MARK } from '../canonical/reasoning-token.ts';
import { fieldOf, toList } from './fields.ts';

/**
 * The JSON of `contents` without thoughts and signatures of providers of other protocols: one that
 * speaks generate-content would refuse their signatures. Undefined when there is none.
 */
export function withoutForeignSignatures(
  { body, json }: RequestPeek,
  { model, capabilities }: Pick<EncodeOptions, 'model' | 'capabilities'>,
): string | undefined {
  const member = json.maySee(TOKEN_MARK) && json.find('contents');
  if (!member) return undefined;
  const text = body.toString('utf8', member.valueStart, member.valueEnd);
  const contents = toList(parseKeepingRaw(text, ['args', 'response']));
  if (!contents.some(isOfOthers)) return undefined;
  const { unsigned_call: word } = capabilitiesOf('generate-content', model, capabilities);
  const own = contents.flatMap(withoutForeign);
  return stringifyWithRaw(word === null ? own : withSignedCalls(own, word));
}

/** Adds a placeholder signature to the first call of each turn of the model, if it has none. */
function withSignedCalls(contents: readonly unknown[], word: string): unknown[] {
  let isCalled = false;
  return contents.map((content) => {
    const isOfModel = isJsonObject(content) && content['role'] === 'model';
    isCalled &&= isOfModel;
    if (!isOfModel || isCalled) return content;
    const parts = toList(content['parts']);
    const at = parts.findIndex((part) => isJsonObject(part) && fieldOf(part, 'functionCall'));
    const call = parts[at];
    isCalled = isJsonObject(call);
    if (!isJsonObject(call) || fieldOf(call, 'thoughtSignature')) return content;
    const signed = Object.assign({}, call, { thoughtSignature: word });
    return Object.assign({}, content, { parts: parts.toSpliced(at, 1, signed) });
  });
}

/** A content that was nothing else goes as a whole, for empty ones are refused. */
function withoutForeign(content: unknown): readonly unknown[] {
  if (!isOfOthers(content)) return [content];
  const parts = toList(content['parts']).flatMap(unsigned);
  return parts.length > 0 ? [{ ...content, parts }] : [];
}

/** Thoughts go with their signature, and texts and calls stay without it. */
function unsigned(part: unknown): readonly unknown[] {
  if (!isForeign(part)) return [part];
  const { thoughtSignature: _camel, thought_signature: _snake, ...rest } = part;
  return rest['thought'] === true || rest['text'] === '' ? [] : [rest];
}

function isOfOthers(content: unknown): content is Record<string, unknown> {
  return isJsonObject(content) && toList(content['parts']).some(isForeign);
}

function isForeign(part: unknown): part is Record<string, unknown> {
  return (
    isJsonObject(part) && isForeignToken(fieldOf(part, 'thoughtSignature'), 'generate-content')
  );
}
