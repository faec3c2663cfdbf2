import { atOnce } from '../../../core/turns/in-turns.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import type { Signature } from '../../canonical/canonical.ts';
import type { AnswerEvent, PartOpening } from '../../canonical/stream.ts';
import { readCitations, readLogprobs, withinText } from './annotations.ts';
import { readAnswerContent } from './answer-content.ts';
import { CallReader } from './call-reader.ts';
import type { Members } from '../../json-fields.ts';
import { readFinishReason } from './finish-reason.ts';
import {
  CONTENT_SIGNATURE,
  detailKey,
  detailsOf,
  detailText,
  plainReasoningOf,
  signatureOf,
} from './reasoning-details.ts';
import type { ReasoningDetail } from './reasoning-details.ts';

/** The part that grows now; tool calls grow at the same time. */
interface Growing {
  part: number;
  type: 'text' | 'refusal' | 'reasoning';
  /** Key that sets the pieces of one reasoning apart from the next. */
  key: string;
  /** The entry of a reasoning, gathered without its text. */
  detail: ReasoningDetail;
  /** Signature of a text that came without entries. */
  plain?: Signature;
}

const PLAIN = 'plain';
/** Sources that are kept for a text that has not begun. */
const MAX_WAITING = 1000;

/** Turns the deltas of a choice into parts. */
export class DeltaReader {
  finished = false;
  begun = false;
  #parts = 0;
  #growing: Growing | undefined;
  /** Characters of texts. */
  #textSize = 0;
  /** Positions at which texts begin in the whole of the content, the last one first. */
  #texts: readonly { readonly part: number; readonly start: number }[] = [];
  #out: AnswerEvent[] = [];
  /** Annotations that came while no text grew; they belong to the next one, or to the last. */
  #waiting: unknown[] = [];
  readonly #calls = new CallReader({
    begin: () => {
      this.#end();
      return this.#parts++;
    },
    emit: (event) => this.#out.push(event),
  });

  read(choice: Members): readonly AnswerEvent[] {
    if (this.finished) return [];
    const given = choice['delta'] ?? choice['message'];
    if (isJsonObject(given)) this.#readDelta(given);
    this.#readLogprobs(choice['logprobs']);
    const { finish_reason: reason } = choice;
    const events = this.#take();
    return typeof reason === 'string' && reason !== ''
      ? [...events, ...this.finish(reason)]
      : events;
  }

  finish(reason: string): readonly AnswerEvent[] {
    this.#end();
    this.#calls.closeAll();
    this.#citeLate();
    this.finished = true;
    const known = reason === '' ? 'stop' : reason;
    return [...this.#take(), { type: 'finish', stop: readFinishReason(known, this.#calls.any) }];
  }

  #take(): AnswerEvent[] {
    const events = this.#out;
    this.#out = [];
    return events;
  }

  #readDelta(delta: Members): void {
    const content = readAnswerContent(delta['content']);
    const details = detailsOf(delta);
    for (const detail of details) this.#readDetail(detail);
    // The delta repeats the text of the entries as plain text.
    const { text, signature } = plainReasoningOf(delta);
    const thought = details.length === 0 ? text + content.reasoning : '';
    if (thought !== '') this.#grow('reasoning', { key: PLAIN, text: thought });
    if (thought !== '')
      (this.#growing as Growing).plain = text === '' ? CONTENT_SIGNATURE : signature;
    if (content.text !== '') this.#grow('text', { key: '', text: content.text });
    const { refusal } = delta;
    if (typeof refusal === 'string' && refusal !== '')
      this.#grow('refusal', { key: '', text: refusal });
    this.#readCitations(delta);
    this.#calls.read(delta);
    this.begun ||= this.#calls.any;
  }

  #readDetail(detail: ReasoningDetail): void {
    this.#grow('reasoning', { key: detailKey(detail), text: detailText(detail) });
    const growing = this.#growing as Growing;
    growing.detail = { ...growing.detail, ...withoutEmpty(detail) };
  }

  /** Adds to the part that grows, or begins one when that is another. */
  #grow(type: Growing['type'], { key, text }: { key: string; text: string }): void {
    this.begun = true;
    if (this.#growing?.type !== type || this.#growing.key !== key) this.#open(type, key);
    const { part } = this.#growing as Growing;
    if (type === 'text') this.#textSize += text.length;
    if (text !== '') this.#out.push({ type: 'delta', part, text });
  }

  #open(type: Growing['type'], key: string): void {
    this.#end();
    this.#calls.closeComplete();
    const opening: PartOpening = { type };
    const part = this.#parts++;
    this.#growing = { part, type, key, detail: {} };
    if (type === 'text')
      this.#texts = [{ part, start: this.#textSize }, ...this.#texts.slice(0, MAX_WAITING)];
    this.#out.push({ type: 'open', part, opening });
  }

  #end(): void {
    if (!this.#growing) return;
    const { part, type, detail, plain } = this.#growing;
    this.#growing = undefined;
    if (type === 'reasoning')
      this.#out.push({ type: 'signature', part, signature: plain ?? signatureOf(detail) });
    if (type === 'text') this.#cite(part, { annotations: this.#waiting.splice(0) });
    this.#out.push({ type: 'close', part });
  }

  #readCitations(delta: Members): void {
    if (this.#growing?.type === 'text') return this.#cite(this.#growing.part, delta);
    const { annotations } = delta;
    if (!Array.isArray(annotations)) return;
    const room = MAX_WAITING - this.#waiting.length;
    this.#waiting.push(...(annotations as unknown[]).slice(0, room));
  }

  /** Adds the citations that came after the last text. */
  #citeLate(): void {
    if (this.#texts.length > 0) this.#cite(undefined, { annotations: this.#waiting.splice(0) });
  }

  /** Adds each source to the text that its offsets lie in. */
  #cite(growing: number | undefined, message: Members): void {
    for (const one of readCitations(message)) {
      const { start } = one;
      const found = this.#texts.find((text) => start === undefined || start >= text.start);
      if (!found) continue;
      const citation = withinText(one, found.start);
      const { part } = found;
      this.#out.push(
        part === growing
          ? { type: 'citation', part, citation }
          : { type: 'late_citation', text: part, citation },
      );
    }
  }

  #readLogprobs(given: unknown): void {
    if (this.#growing?.type !== 'text' || !isJsonObject(given)) return;
    const logprobs = atOnce(readLogprobs(given));
    if (logprobs.length > 0)
      this.#out.push({ type: 'logprobs', part: this.#growing.part, logprobs });
  }
}

/** Later pieces repeat members of the entry as null; its text is not gathered. */
function withoutEmpty(detail: ReasoningDetail): ReasoningDetail {
  const { text: _text, summary: _summary, ...rest } = detail;
  return Object.fromEntries(
    Object.entries(rest).filter(([, value]) => value !== null && value !== undefined),
  );
}
