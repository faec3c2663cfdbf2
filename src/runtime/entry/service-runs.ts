import { GatewayError } from '../../core/errors.ts';
import type { SessionEvent } from '../../sessions/log/session-event.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { Op } from '../../store/store.ts';
import type { PayingKey } from '../../usage/principal.ts';
import type { Service, ServiceDesk } from './service-desk.ts';

export interface ServiceMessage {
  /** Parts of a `user.message`, not looked at yet. */
  readonly content: readonly unknown[];
  /** Name that the sender knows them by, for errors. Default: `content`. */
  readonly contentName?: string | undefined;
  /** Absent: a new Session. */
  readonly sessionId?: string | undefined;
  /** Refuses it while the Session waits for an answer to a call, which this surface cannot send. */
  readonly unlessWaiting?: boolean | undefined;
  /** Further operations of the commit that sends it. */
  readonly also?: ((sent: SentMessage) => Promise<readonly Op[]>) | undefined;
}

/** The one event that a run appended, and where. */
export interface SentMessage {
  readonly sessionId: string;
  readonly event: SessionEvent;
}

/** Sends exactly one message to exactly one Session, for every entry point of a Service. */
export interface ServiceRuns {
  /** A new Session without a message. */
  open(service: Service, payer: PayingKey): Promise<string>;
  /**
   * @throws GatewayError `invalid_request` with the path of the fault in `content`; `not_found` for a
   *   Session that the organization does not have; `conflict` for one that takes no input, or that
   *   waits although the message asks for `unlessWaiting`
   */
  send(service: Service, payer: PayingKey, message: ServiceMessage): Promise<SentMessage>;
}

export function createServiceRuns(sessions: Sessions, desk: ServiceDesk): ServiceRuns {
  const start = async (service: Service, payer: PayingKey, message?: ServiceMessage) => {
    const { also } = message ?? {};
    const { session, events } = await sessions.create({
      organization: service.organization,
      payer,
      entryPoint: 'service',
      endpointId: service.id,
      agent: await desk.agentOf(service),
      metadata: service.sessionMetadata,
      events: message ? toEvents(message) : [],
      ...(also && { also: (made) => also(toSent(made.session.id, made.events)) }),
    });
    return { sessionId: session.id, events };
  };
  const append = async (organization: string, sessionId: string, message: ServiceMessage) => {
    const { also, unlessWaiting } = message;
    const events = await sessions.send(organization, sessionId, {
      events: toEvents(message),
      ...(unlessWaiting && { awaited: null }),
      ...(also && { also: (sent) => also(toSent(sessionId, sent)) }),
    });
    return { sessionId, events };
  };
  return {
    open: async (service, payer) => (await start(service, payer)).sessionId,
    async send(service, payer, message) {
      const { sessionId } = message;
      const sent = await (
        sessionId === undefined
          ? start(service, payer, message)
          : append(service.organization, sessionId, message)
      ).catch((thrown: unknown) => Promise.reject(toOwnPath(thrown, message.contentName)));
      return toSent(sent.sessionId, sent.events);
    },
  };
}

const toEvents = ({ content }: ServiceMessage) => [{ type: 'user.message', content }];

function toSent(sessionId: string, [event]: readonly SessionEvent[]): SentMessage {
  if (!event) throw new Error('a message was sent and is no event');
  return { sessionId, event };
}

/** Callers sent only the parts, so the path of a fault omits the list of events around them. */
function toOwnPath(thrown: unknown, contentName = 'content'): unknown {
  if (!(thrown instanceof GatewayError) || thrown.param === undefined) return thrown;
  const { param, message } = thrown;
  const own = param.replace(/^(initial_)?events\[0\]\.?/, '').replace(/^content\b/, contentName);
  return thrown.with({ param: own, message: message.replace(param, own) });
}
