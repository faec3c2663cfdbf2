import { isJsonObject } from '../../../core/json/value.ts';
import type { AnswerEvent } from '../../canonical/stream.ts';
import type { Members } from '../../json-fields.ts';
import { isNoCall } from '../../canonical/no-call.ts';
import { JsonDepth } from './json-depth.ts';
import { readCalled } from './read-answer.ts';

export interface CallReaderOptions {
  /** Closes what grows and gives the number of a new part. */
  begin(): number;
  emit(event: AnswerEvent): void;
}

interface GrowingCall {
  part: number;
  id: string;
  depth: JsonDepth;
  open: boolean;
}

/**
 * The tool calls of a stream. Their pieces are told apart by `index`; servers that count wrongly
 * are understood by the id, which comes with the first piece only.
 */
export class CallReader {
  readonly #options: CallReaderOptions;
  readonly #calls = new Map<number, GrowingCall>();
  #last: GrowingCall | undefined;

  constructor(options: CallReaderOptions) {
    this.#options = options;
  }

  get any(): boolean {
    return this.#last !== undefined;
  }

  read(delta: Members): void {
    const { tool_calls: given, function_call: older } = delta;
    const pieces = Array.isArray(given) ? given.filter(isJsonObject) : [];
    const all =
      pieces.length === 0 && isJsonObject(older) ? [{ index: 0, function: older }] : pieces;
    for (const piece of all) this.#readPiece(piece);
  }

  /** Calls have no end marker: a complete one ends when another part begins. */
  closeComplete(): void {
    for (const call of this.#calls.values()) if (call.depth.complete) this.#close(call);
  }

  closeAll(): void {
    for (const call of this.#calls.values()) this.#close(call);
  }

  #readPiece(piece: Members): void {
    const called = readCalled(piece);
    const call = this.#find(piece, called);
    const { text } = called;
    if (!call?.open || text === '') return;
    call.depth.push(text);
    this.#options.emit({ type: 'delta', part: call.part, text });
  }

  #find(
    piece: Members,
    { name, isCustom, text }: ReturnType<typeof readCalled>,
  ): GrowingCall | undefined {
    const { id, index } = piece;
    const known = typeof index === 'number' ? this.#calls.get(index) : this.#last;
    const isNew = name !== '';
    const isOther = typeof id === 'string' && id !== '' && id !== known?.id;
    if (known && !(isNew && isOther)) return known;
    if (isNoCall(name, text)) return undefined;
    const opening = {
      type: 'tool_call',
      name,
      ...(isCustom && { custom: true as const }),
    } as const;
    return this.#open(opening, { id: isOther ? id : undefined, index });
  }

  #open(
    opening: { type: 'tool_call'; name: string; custom?: true },
    { id, index }: { id: string | undefined; index: unknown },
  ): GrowingCall {
    this.closeComplete();
    const part = this.#options.begin();
    const call = { part, id: id ?? `call_${part}`, depth: new JsonDepth(), open: true };
    const key = typeof index === 'number' ? index : -1 - part;
    const replaced = this.#calls.get(key);
    if (replaced) this.#close(replaced);
    this.#calls.set(key, call);
    this.#last = call;
    this.#options.emit({ type: 'open', part, opening: { ...opening, id: call.id } });
    return call;
  }

  #close(call: GrowingCall): void {
    if (!call.open) return;
    call.open = false;
    this.#options.emit({ type: 'close', part: call.part });
  }
}
