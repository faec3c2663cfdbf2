import { Buffer } from 'node:buffer';
import { CandidateExchange } from './candidate-exchange.ts';
import type { ExchangeOptions } from './exchange-options.ts';
import { invalidAnswerFailure } from './failures.ts';
import { readAnswer } from './read-answer.ts';
import { StreamExchange } from './stream-exchange.ts';

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
    const body = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks);
    const { call, wire } = this.options;
    const answer = this.answerOptions();
    const { maxAnswerValues: maxValues } = this.options;
    const read = readAnswer(body, { wire, peek: call.peek, answer, maxValues });
    if (!(read instanceof Promise)) return this.endAnswer(read);
    read.then(
      (later) => this.safely(() => this.endAnswer(later)),
      (thrown: unknown) => this.safely(() => rethrow(thrown)),
    );
  }

  /** The client may be gone, or time may be up, since the answer was there. */
  private endAnswer(answer: Awaited<ReturnType<typeof readAnswer>>): void {
    if (this.isOver) return;
    if ('type' in answer) {
      const { reason, usage } = answer;
      return this.fail({ ...invalidAnswerFailure(reason, this.status), usage });
    }
    this.noteContent();
    this.close();
    this.options.resolve({ type: 'answer', answer, headers: this.headers });
  }
}

function rethrow(thrown: unknown): never {
  throw thrown;
}
