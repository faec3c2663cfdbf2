import type { Op } from './store.ts';

/** An answer as it goes to the client, without what names its request. */
export interface CallAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Bytes stay as they are; objects are sent as JSON. */
  readonly body?: object | undefined;
}

/** Something that a call made in the store before its answer was known. */
export interface MadeThing {
  readonly id: string;
  /** Shows its state: `GET /v1/run/run_1`. */
  readonly lookUp: string;
}

/**
 * A call that its client named (`Idempotency-Key`), for the code that has its effect: name and effect are
 * one commit, so a kill leaves both or neither. A conflict at the name's key means that the name was taken
 * over; asking for the operations once more then throws `conflict`.
 */
export interface NamedCall {
  /**
   * Id of the thing that this call made before its process died; continue with it in place of making another.
   */
  readonly earlier: string | undefined;
  /** Operations for the commit of the effect that keep the answer for every repeat. */
  answered(answer: CallAnswer): Promise<readonly Op[]>;
  /** Operations for the commit of an effect whose answer comes later: repeats continue with this thing. */
  made(thing: MadeThing): Promise<readonly Op[]>;
  /**
   * Notes that the call acts outside the store from now on; durable when it resolves. If the process dies
   * before the answer is kept, every repeat gets `outcome_unknown` and nothing is made again.
   *
   * @param lookUp shows the outcome; default: the record of the request
   */
  willAct(lookUp?: string): Promise<void>;
}
