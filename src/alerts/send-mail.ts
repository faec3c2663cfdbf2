import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import type { Delivery } from '../scheduler/notify/send-message.ts';
import { UrlGuardError } from '../upstream/guard/url-guard-error.ts';
import type { UrlGuard } from '../upstream/guard/url-guard.ts';

/** Receivers of mails, and the server that takes them. */
export interface MailTarget {
  /** Names the target for ever: each event is sent once under this name. */
  readonly name: string;
  readonly to: readonly string[];
  readonly from: string;
  readonly smtp: {
    readonly host: string;
    /** Default: that of `tls`. */
    readonly port?: number;
    readonly tls: keyof typeof PORTS;
    readonly auth?: { readonly user: string; readonly password: string };
  };
}

export interface Mail {
  /** The same for the same message, however often it is sent. */
  readonly id: string;
  readonly subject: string;
  readonly text: string;
}

/** Outcome of a mail, with the receivers concerned where a server refused only some of them. */
export type MailDelivery = Delivery & {
  /** Receivers to whom it may be sent again; absent: all of the mail's. */
  readonly left?: readonly string[];
  /** True where others were refused for good. */
  readonly isRefused?: boolean;
};

/** Sends once; rejects never. */
export type SendMail = (target: MailTarget, mail: Mail) => Promise<MailDelivery>;

/** Ports of mail servers by how they speak TLS. */
const PORTS = { starttls: 587, implicit: 465, off: 25 } as const;
const MAIL_PORTS: ReadonlySet<number> = new Set(Object.values(PORTS));
const TIMEOUT_MS = 10_000;

/** Sends mails to servers that the guard lets be reached; what speaks SMTP is loaded with the first. */
export function createMailSender(guard: Pick<UrlGuard, 'addresses'>): SendMail {
  return async (target, mail) => {
    const { host, tls, port = PORTS[tls] } = target.smtp;
    try {
      const [address = host] = await guard.addresses(host, port, MAIL_PORTS);
      return toDelivery(await send(target, mail, { address, port }), target);
    } catch (error) {
      const { rejectedErrors } = error as { rejectedErrors?: readonly Refusal[] };
      if (rejectedErrors?.length) return toDelivery(rejectedErrors, target);
      return { isDelivered: false, reason: reasonOf(error), isFinal: isFinal(error) };
    }
  };
}

/** Answer of a server that did not take a mail for one of its receivers. */
interface Refusal {
  readonly recipient?: string | undefined;
  readonly code?: string | undefined;
  readonly responseCode?: number | undefined;
}

function toDelivery(refusals: readonly Refusal[], { to }: MailTarget): MailDelivery {
  const [first] = refusals;
  if (!first) return { isDelivered: true };
  const later = refusals.filter((refusal) => !isFinal(refusal));
  const forGood = refusals.find(isFinal);
  const deferred = new Set(later.map(({ recipient = '' }) => toPlain(recipient)));
  const left = to.filter((address) => deferred.has(toPlain(address)));
  return {
    isDelivered: false,
    reason: reasonOf(forGood ?? first),
    isFinal: later.length === 0,
    isRefused: forGood !== undefined,
    // A mail that comes twice is better than none, should a receiver be named in another way.
    ...(left.length >= deferred.size && { left }),
  };
}

/** An address in the form that mail servers take. */
function toPlain(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + domainToASCII(address.slice(at));
}

/** Gives the receivers that the server refused while it took the mail for others. */
async function send(
  { to, from, smtp }: MailTarget,
  { id, subject, text }: Mail,
  { address, port }: { address: string; port: number },
): Promise<readonly Refusal[]> {
  const { createTransport } = await import('nodemailer');
  const { host, tls, auth } = smtp;
  const transport = createTransport({
    // The address that passed the guard, and no other that the name may have by now.
    host: address,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'off',
    tls: isIP(host) === 0 ? { servername: host } : {},
    ...(auth && { auth: { user: auth.user, pass: auth.password } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.split('@')[1] ?? host;
  try {
    const messageId = `<${id}@${domain}>`;
    const told = await transport.sendMail({ from, to: [...to], subject, text, messageId });
    return told.rejectedErrors ?? [];
  } finally {
    transport.close();
  }
}

/** Reason for logs, which names neither what the server said nor the credentials. */
function reasonOf(error: unknown): string {
  if (error instanceof UrlGuardError) return error.message;
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  return `the mail server failed: ${[code, responseCode].filter(Boolean).join(' ') || 'no answer'}`;
}

/** A wrong password can be put right in time; an address that is refused for good cannot. */
function isFinal(error: unknown): boolean {
  if (error instanceof UrlGuardError) return error.reason !== 'unresolved';
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  return responseCode >= 500 && code !== 'EAUTH';
}
