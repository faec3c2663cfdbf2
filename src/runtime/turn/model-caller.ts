import { Writable } from 'node:stream';
import { GatewayError } from '../../core/errors.ts';
import type { IdSource } from '../../core/ids.ts';
import { inTurns } from '../../core/turns/in-turns.ts';
import { stringifyWithRaw } from '../../core/json/raw.ts';
import { createSseFramer } from '../../core/sse/sse.ts';
import type { Usage } from '../../core/usage.ts';
import { runInference } from '../../inference/run-inference.ts';
import type { InferenceDeps } from '../../inference/run-inference.ts';
import type { ClientConnection, PipeableBody } from '../../inference/types.ts';
import { UNKNOWN } from '../../protocols/capabilities/capabilities-of.ts';
import type { CanonicalRequest, Part, Stop } from '../../protocols/canonical/canonical.ts';
import { messagesCodec } from '../../protocols/messages/codec/messages-codec.ts';
import type { SpokenProtocols } from '../../protocols/load-protocols.ts';
import type { WireProtocol } from '../../protocols/protocol.ts';
import { translateBetween } from '../../protocols/canonical/translate.ts';
import type { Catalog } from '../../routing/catalog.ts';
import type { Admitted } from '../../surfaces/gate.ts';
import type { RequestOrigin } from '../../usage/origin.ts';
import type { PayingKey } from '../../usage/principal.ts';
import { AnswerDraft } from './answer-draft.ts';
import type { AnswerListener } from './answer-draft.ts';
import { listCostOf } from '../tools/list-cost.ts';

export interface ModelQuestion {
  /** Logical name. */
  readonly model: string;
  readonly request: CanonicalRequest;
  readonly payer: PayingKey;
  /** Circumstances of the Session. Default: none. */
  readonly origin?: RequestOrigin | undefined;
  readonly listener: AnswerListener;
  /** Ends the call and the provider's work at once. */
  readonly signal: AbortSignal;
}

export interface ModelAnswer {
  readonly parts: readonly Part[];
  readonly stop: Stop;
  readonly usage: Usage | undefined;
  /** Cost by list prices, in nano-dollars; null: unknown. */
  readonly cost: number | null;
}

/** Asks a model for one answer (requirement sessions.turn.billing). */
export interface ModelCaller {
  /**
   * @throws ModelCallError with what a direct call would answer, when it was aborted, too
   */
  ask(question: ModelQuestion): Promise<ModelAnswer>;
  /** Tokens that a request to the model may have in addition to its answer. */
  roomOf(model: string): number;
}

/** A model call without an answer, with the usage and cost that it has all the same. */
export class ModelCallError extends Error {
  override readonly name = 'ModelCallError';
  override readonly cause: unknown;
  readonly usage: Usage | undefined;
  /** Cost by list prices, in nano-dollars; null: unknown. */
  readonly cost: number | null;

  constructor(cause: unknown, { usage, cost }: Pick<ModelAnswer, 'usage' | 'cost'>) {
    super('the model call failed', { cause });
    this.cause = cause;
    this.usage = usage;
    this.cost = cost;
  }
}

/**
 * Messages as Agents speak it: an Agent knows no more than a logical name, so its request is fitted to
 * the upstream model of each route in turn, also where the provider speaks Messages itself.
 */
const toAgentProtocol = (messages: WireProtocol): WireProtocol => ({
  ...messages,
  encode: translateBetween(messagesCodec, messagesCodec).encode,
});

export interface ModelCallerDeps {
  inference: InferenceDeps;
  spoken: Pick<SpokenProtocols, 'wires'>;
  catalog(): Catalog;
  /** Lets the payer's call in as the gate does; throws its `GatewayError`. The caller calls `leave`. */
  admit(payer: PayingKey): Promise<Admitted>;
  ids: IdSource;
}

/** Context window in tokens where the model's declaration has none. */
const DEFAULT_WINDOW = 128_000;
/** Largest share of the context window for the answer. */
const ANSWER_SHARE = 0.25;
/** The answer is held whole. */
const MAX_ANSWER_CHARS = 16 * 1024 * 1024;

/**
 * Calls go the way of every client's: through routing with failover, limits and the ledger, recorded
 * under the surface `session`, in the protocol that carries most of what agents say.
 */
export function createModelCaller(deps: ModelCallerDeps): ModelCaller {
  const protocol = toAgentProtocol(deps.spoken.wires.messages);
  return {
    roomOf(model) {
      const { contextWindow = DEFAULT_WINDOW, maxOutputTokens } =
        deps.catalog().models.get(model) ?? {};
      const answer = maxOutputTokens ?? deps.inference.defaultMaxTokens;
      return contextWindow - Math.min(answer, contextWindow * ANSWER_SHARE);
    },
    async ask(question) {
      const draft = new AnswerDraft(question.listener, MAX_ANSWER_CHARS);
      const asker = new Asker(question.signal);
      const spent = (): Pick<ModelAnswer, 'usage' | 'cost'> => {
        const { usage } = draft;
        const cost = usage ? listCostOf(deps.catalog(), question.model, usage) : 0;
        return { usage, cost };
      };
      try {
        const { principal, leave } = await deps.admit(question.payer);
        try {
          await deps.inference.ledger.checkFunds(principal);
          const own = Object.assign({}, deps, { protocol, client: asker });
          const body = await open(question, principal, own);
          await read(body, draft, asker);
        } finally {
          leave();
        }
        const { usage, cost } = spent();
        return { usage, cost, ...toAnswer(draft) };
      } catch (thrown) {
        throw new ModelCallError(thrown, spent());
      } finally {
        asker.leave();
      }
    },
  };
}

/** The client of one call. Gone once the call is aborted or has ended. */
class Asker implements ClientConnection {
  readonly #signal: AbortSignal;
  readonly #listeners = new Set<() => void>();
  #hasLeft = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.leave, { once: true });
  }

  get gone(): boolean {
    return this.#hasLeft || this.#signal.aborted;
  }

  onGone(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  readonly leave = (): void => {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#signal.removeEventListener('abort', this.leave);
    for (const listener of this.#listeners) listener();
  };
}

interface OpenDeps extends ModelCallerDeps {
  readonly protocol: WireProtocol;
  readonly client: ClientConnection;
}

async function open(
  { model, request, origin }: ModelQuestion,
  principal: Admitted['principal'],
  { inference, catalog, ids, protocol, client }: OpenDeps,
): Promise<PipeableBody> {
  const { clock, defaultMaxTokens } = inference;
  const snapshot = catalog();
  const encoding = messagesCodec.encodeRequest(request, {
    model,
    defaultMaxTokens: snapshot.models.get(model)?.maxOutputTokens ?? defaultMaxTokens,
    askUsage: true,
    // No rule of a vendor's may match a logical name; every model takes system texts in front.
    capabilities: { ...UNKNOWN, system_turns: false },
  });
  const { value } = await inTurns(encoding);
  const result = await runInference(
    {
      id: ids.next('req'),
      at: clock.now(),
      startedAt: clock.monotonic(),
      surface: 'session',
      protocol,
      principal,
      catalog: snapshot,
      body: Buffer.from(stringifyWithRaw(value)),
      headers: {},
      origin,
      address: {},
      client,
      repeatable: true,
    },
    inference,
  );
  if (result.type === 'stream') return result.body;
  throw new GatewayError('invalid_upstream_response');
}

/** Resolves when the answer is whole or of no use. */
function read(body: PipeableBody, draft: AnswerDraft, client: ClientConnection): Promise<void> {
  const decoder = messagesCodec.createDecoder();
  const framer = createSseFramer();
  return new Promise((resolve, reject) => {
    const takeBack = (): void => reject(new Error('the question was taken back'));
    if (client.gone) return takeBack();
    const forget = client.onGone(takeBack);
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        attempt(done, () => {
          for (const frame of framer.push(chunk))
            for (const event of decoder.read(frame)) draft.take(event);
          if (draft.failure) resolve();
        });
      },
      final(done) {
        attempt(done, () => {
          for (const event of decoder.close()) if (!draft.isEnded) draft.take(event);
          forget();
          resolve();
        });
      },
    });
    sink.on('error', reject);
    body.pipe(sink);
  });
}

function attempt(done: (error?: Error) => void, work: () => void): void {
  try {
    work();
    done();
  } catch (thrown) {
    done(thrown instanceof Error ? thrown : new Error('the answer cannot be read'));
  }
}

function toAnswer({
  parts,
  stop,
  failure,
  isEnded,
}: AnswerDraft): Pick<ModelAnswer, 'parts' | 'stop'> {
  if (failure) throw new GatewayError('upstream_interrupted', { cause: failure });
  if (!isEnded) throw new GatewayError('upstream_interrupted');
  return { parts, stop: stop ?? { kind: 'other' } };
}
