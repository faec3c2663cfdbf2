import type { Clock, Timer } from '../../../core/time/clock.ts';
import { UpstreamError } from '../../../upstream/transport.ts';
import type { UpstreamCall, UpstreamSink } from '../../../upstream/transport.ts';
import type { MockCall } from './journal.ts';
import type { MockScript } from './mock-script.ts';

/** Steps that one tick delivers before other work runs. */
const BATCH = 16;
/** The step before the first: the response head. */
const HEAD = -1;

export interface PlaybackOptions {
  script: MockScript;
  sink: UpstreamSink;
  clock: Clock;
  onClose: () => void;
}

/** One script on its way to one sink; starts at the first `resume`. Steps without a wait cost no timer. */
export class Playback implements UpstreamCall {
  readonly #options: PlaybackOptions;
  #next = HEAD;
  #paused = true;
  #closed = false;
  /** The wait before the next step is over: a pause holds back the step, not the clock. */
  #due = false;
  #timer: Timer | undefined;
  #turn: NodeJS.Immediate | undefined;

  constructor(options: PlaybackOptions) {
    this.#options = options;
  }

  abort(): void {
    if (this.#closed) return;
    this.#close('aborted');
    queueMicrotask(() =>
      this.#options.sink.onError(new UpstreamError('aborted', 'the call was aborted')),
    );
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  /** Has the next step played after its wait, else in the next tick. */
  #schedule(): void {
    if (this.#closed || this.#turn || this.#timer) return;
    const delayMs = this.#due ? 0 : this.#waitBeforeNext();
    if (delayMs === 0) {
      this.#turn = setImmediate(() => this.#run());
      return;
    }
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#timer = undefined;
      this.#due = true;
      this.#run();
    }, delayMs);
  }

  #run(): void {
    this.#turn = undefined;
    for (let played = 0; played < BATCH; played++) {
      if (this.#closed || this.#paused) return;
      if (!this.#due && this.#waitBeforeNext() > 0) break;
      this.#due = false;
      this.#play();
    }
    this.#schedule();
  }

  #play(): void {
    const { script, sink } = this.#options;
    const at = this.#next++;
    const step = script.steps[at];
    if (at === HEAD && !script.cutBeforeHead) {
      sink.onHead(script.status, script.headers);
    } else if (at === HEAD || (step && 'cut' in step)) {
      this.#close('cut');
      sink.onError(new UpstreamError('reset', 'the mock cut the connection'));
    } else if (step) {
      sink.onData(step.bytes);
    } else {
      this.#close('done');
      sink.onEnd();
    }
  }

  #close(outcome: MockCall['outcome']): void {
    this.#closed = true;
    this.#timer?.cancel();
    if (this.#turn) clearImmediate(this.#turn);
    this.#options.script.call.outcome = outcome;
    this.#options.onClose();
  }

  #waitBeforeNext(): number {
    const { script } = this.#options;
    if (this.#next === HEAD) return script.delayMs;
    const step = script.steps[this.#next];
    return step && 'bytes' in step ? step.delayMs : 0;
  }
}
