import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../core/errors.ts';
import type { ByteBudget, Waiting } from '../../core/memory/byte-budget.ts';
import { cutOff } from './refuse-body.ts';

/** Matches as Node.js does. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

/** True for a client that sends its body after `100 Continue` (RFC 9110, 10.1.1). */
function expectsContinue({
  headers,
  httpVersion,
}: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  return headers.expect !== undefined && httpVersion === '1.1' && CONTINUE.test(headers.expect);
}

/** A client that waited this long before may try again soon. */
const RETRY_AFTER_S = '1';

/**
 * The way of one request's body into the process: room for it in the memory of all bodies, and the
 * word to the client to send it. Whatever is held is given back once, by {@link release}.
 */
export class BodyIntake {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #budget: ByteBudget;
  #holder = '';
  #held = 0;
  #waiting: Waiting | undefined;
  #isReleased = false;
  #isInvited = false;

  constructor(
    { request, response }: { request: IncomingMessage; response: ServerResponse },
    budget: ByteBudget,
  ) {
    this.#request = request;
    this.#response = response;
    this.#budget = budget;
  }

  /** Bytes. */
  get held(): number {
    return this.#held;
  }

  /** True while the client waits for the word to send its body. */
  get isAwaited(): boolean {
    return !this.#isInvited && expectsContinue(this.#request);
  }

  /**
   * Makes room for so many bytes in all, held ones included, in the name of a key. Undefined when there is
   * room, which is nearly always. Rejects with `no_room_for_body` when none becomes free in time, and with
   * `invalid_request` when the client leaves meanwhile.
   */
  reserve(holder: string, bytes: number): Promise<void> | undefined {
    const asked = { holder, bytes: bytes - this.#held, own: this.#held };
    if (asked.bytes <= 0 || this.#isReleased) return undefined;
    this.#holder = holder;
    if (!this.#budget.tryTake(asked)) return this.#wait(asked);
    this.#held = bytes;
    return undefined;
  }

  /** Sends `100 Continue` to a client that waits for it. */
  invite(): void {
    if (this.isAwaited) this.#response.writeContinue();
    this.#isInvited = true;
  }

  /** Releases the bytes held beyond so many. */
  shrink(bytes: number): void {
    const surplus = this.#held - bytes;
    if (surplus <= 0) return;
    this.#held = bytes;
    this.#budget.giveBack(this.#holder, surplus);
  }

  /** Gives everything back: the bytes are not needed any more. Idempotent. */
  release(): void {
    this.#isReleased = true;
    this.#waiting?.cancel();
    this.shrink(0);
  }

  async #wait(asked: { holder: string; bytes: number; own: number }): Promise<void> {
    const waiting = this.#budget.wait(asked);
    this.#waiting = waiting;
    this.#response.once('close', waiting.cancel);
    const isAdmitted = await waiting.admitted;
    this.#response.off('close', waiting.cancel);
    this.#waiting = undefined;
    if (isAdmitted) {
      this.#held += asked.bytes;
      // Released in the moment in which room was found.
      if (this.#isReleased) this.shrink(0);
    }
    if (this.#request.destroyed) throw cutOff();
    if (isAdmitted) return;
    throw new GatewayError('no_room_for_body', { headers: { 'retry-after': RETRY_AFTER_S } });
  }
}
