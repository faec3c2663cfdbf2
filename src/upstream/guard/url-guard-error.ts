/** Cause for not calling a user-supplied URL. */
export type UrlRefusal =
  /** Text that is no URL. */
  | 'syntax'
  /** A scheme other than http and https. */
  | 'scheme'
  /** Carries a user name or password. */
  | 'credentials'
  /** A port that belongs to other protocols. */
  | 'port'
  /** A name of this machine or of a private network. */
  | 'host'
  /** The name does not resolve. */
  | 'unresolved'
  /** The host is, or resolves to, an address that is not public. */
  | 'address';

/**
 * The URL guard refused a URL. The message is fit for the caller: it never names an address that a
 * host resolved to. Surfaces map it to 400 or 422.
 */
export class UrlGuardError extends Error {
  override readonly name = 'UrlGuardError';
  readonly reason: UrlRefusal;

  constructor(reason: UrlRefusal, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}
