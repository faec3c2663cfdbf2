import { isIP } from 'node:net';
import type { Delivery } from '../scheduler/notify/send-message.ts';
import { UrlGuardError } from '../upstream/guard/url-guard-error.ts';
import type { UrlGuard } from '../upstream/guard/url-guard.ts';

/** Receivers of mails, and the server that takes them. */
export interface MailTarget {
  /** Names the target for ever: who is told once is told once by this name. */
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

/** Sends once; rejects never. */
export type SendMail = (target: MailTarget, mail: Mail) => Promise<Delivery>;

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
      await send(target, mail, { address, port });
      return { isDelivered: true };
    } catch (error) {
      return { isDelivered: false, reason: reasonOf(error), isFinal: isFinal(error) };
    }
  };
}

async function send(
  { to, from, smtp }: MailTarget,
  { id, subject, text }: Mail,
  { address, port }: { address: string; port: number },
): Promise<void> {
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
    await transport.sendMail({ from, to: [...to], subject, text, messageId: `<${id}@${domain}>` });
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
