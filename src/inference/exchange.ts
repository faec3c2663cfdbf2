import { Buffer } from 'node:buffer';
import { inTurns } from '../core/turns/in-turns.ts';
import type { Steps } from '../core/turns/in-turns.ts';
import { withOthers } from '../core/turns/with-others.ts';
import { CandidateExchange } from './candidate-exchange.ts';
import type { ExchangeOptions } from './exchange-options.ts';
import { invalidAnswerFailure } from './failures.ts';
import { readAnswer } from './read-answer.ts';
import { StreamExchange } from './stream-exchange.ts';

/** Bytes of an answer that are put together before other work runs. */
const STEP_BYTES = 512 * 1024;
const NO_MEMBERS = Buffer.from('{}');

/** Begins one candidate's exchange, in the form in which the client wants its answer. */
export function createExchange(options: ExchangeOptions): CandidateExchange {
  const { call, wire } = options;
  const isStream = call.peek.stream && wire.createStream !== undefined;
  return isStream ? new StreamExchange(options) : new AnswerExchange(options);
}

/** Gathers a whole answer and reads it. */
class AnswerExchange extends CandidateExchange {
  protected override accept(): boolean {
    return true;
  }

  protected override take(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size > this.options.maxAnswerBytes)
      this.fail(invalidAnswerFailure('too_large', this.status));
  }

  protected override finish(): void {
    const read = (): void => this.safely(() => this.isOver || this.read());
    withOthers(read, this.options.active.size);
  }

  private read(): void {
    // A request about what a provider keeps may need no words (204).
    if (this.chunks.length === 0 && this.options.call.peek.question) this.chunks.push(NO_MEMBERS);
    const joined = this.chunks.length === 1 ? this.chunks[0] : inTurns(join(this.chunks));
    this.wait(joined as Buffer | Promise<Buffer>, (body) => {
      const { call, wire, maxAnswerValues: maxValues } = this.options;
      const answer = this.answerOptions();
      const read = readAnswer(body, { wire, peek: call.peek, answer, maxValues });
      this.wait(read, (told) => this.endAnswer(told));
    });
  }

  /** Continues with the answer once it is there; by then the client may be gone, or time may be up. */
  private wait<T>(value: T | Promise<T>, goOn: (value: T) => void): void {
    if (!(value instanceof Promise)) return goOn(value);
    value.then(
      (later) => this.safely(() => this.isOver || goOn(later)),
      (thrown: unknown) => this.safely(() => rethrow(thrown)),
    );
  }

  private endAnswer(answer: Awaited<ReturnType<typeof readAnswer>>): void {
    if ('type' in answer) {
      const { reason, usage } = answer;
      return this.fail({ ...invalidAnswerFailure(reason, this.status), usage });
    }
    this.noteContent();
    this.close();
    this.options.resolve({ type: 'answer', answer, headers: this.headers });
  }
}

/** The chunks as one; the list is empty then. */
function* join(chunks: Buffer[]): Steps<Buffer> {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  const body = Buffer.allocUnsafe(size);
  let at = 0;
  let next = STEP_BYTES;
  for (const chunk of chunks.splice(0)) {
    at += chunk.copy(body, at);
    if (at < next) continue;
    next = at + STEP_BYTES;
    yield;
  }
  return body;
}

function rethrow(thrown: unknown): never {
  throw thrown;
}
