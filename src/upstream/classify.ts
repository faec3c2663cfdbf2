/** Consequence of an upstream failure for the request. */
export type FailureClass = 'retry-here' | 'next-candidate' | 'fatal';

export interface Verdict {
  class: FailureClass;
  /** The account's credential is refused or out of funds: leave all of its routes alone for a while. */
  cool: boolean;
  /** Reason in the request record: `status_503`, `credential`, `billing`, `unknown_model`, `wrong_address`. */
  reason: string;
}

/** A provider's own rule, asked first: see `ProviderDefinition.classify`. */
export interface StatusRule {
  classify?: (status: number, body: string) => FailureClass | undefined;
}

/** 4xx that say nothing about the request itself. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 421, 425, 429]);

/** Statuses of a credential that is unknown, unpaid or not permitted, at a proxy on the way (407), too. */
const CREDENTIAL: ReadonlySet<number> = new Set([401, 402, 403, 407]);

/** Most characters that are read of an error body. */
const READ_CHARS = 4096;

/** Google's "exceeded your current quota" is missing on purpose: it says so of a passing rate, too. */
const BILLING =
  /insufficient[_ ](quota|balance|credits?|funds)|credit balance is too low|billing_(hard_limit_reached|not_active)|account_deactivated/i;

const BAD_KEY =
  /API_KEY_(INVALID|EXPIRED)|API key (not valid|expired)|invalid_api_key|incorrect api key/i;

const UNKNOWN_MODEL =
  /model_(not_found|decommissioned)|\bmodels?\b[^\n]{0,80}?\b(not exist|not found|no longer available)|(unknown|no such) model|not_found_error[^\n]{0,40}\bmodel\b/i;

/** Model that is not this account's to use, in the words of a 403 that speaks of nothing else. */
const CLOSED_MODEL = /model_not_found|not have access to (the )?model/i;

/** 403 that speaks of what the client sent or named, and nothing of our credential. */
const OF_REQUEST = /moderation|input was flagged|access the file\b|cached ?content/i;

/**
 * Says what to do about an HTTP error of a provider (design: inference, step 5).
 *
 * - 408, 409, 421, 425, 429, 5xx and redirects: the next candidate.
 * - 401, 402, 403, 407, and texts that say that our key or our balance is at fault whatever their status
 *   (some answer 400 or 429): the next candidate, and the account is cooled. A 403 about the model, or
 *   about content or files of the client, cools nothing: it would turn others away as well.
 * - 404, 403 and 400 that name an unknown model, and 404 and 405 that are not JSON: our route or address
 *   is wrong, not the request, so the next candidate. Any other 404 is about something the request
 *   refers to and is the client's.
 * - Every other 4xx: the client's fault, `fatal`.
 */
export function classifyStatus(status: number, body: string, rule: StatusRule = {}): Verdict {
  const usual = usualVerdict(status, body.slice(0, READ_CHARS));
  const own = rule.classify?.(status, body);
  if (own === undefined || own === usual.class) return usual;
  return { class: own, cool: false, reason: `status_${status}` };
}

function usualVerdict(status: number, body: string): Verdict {
  if (status >= 500 || status < 400) return next(`status_${status}`);
  if (BILLING.test(body)) return next('billing', true);
  if (status === 403 && CLOSED_MODEL.test(body)) return next('unknown_model');
  if (status === 403 && OF_REQUEST.test(body)) return next('status_403');
  if (CREDENTIAL.has(status) || BAD_KEY.test(body)) return next('credential', true);
  if (PASSING.has(status)) return next(`status_${status}`);
  if ((status === 404 || status === 400) && UNKNOWN_MODEL.test(body)) return next('unknown_model');
  if ((status === 404 || status === 405) && !/^\s*[{[]/.test(body)) return next('wrong_address');
  return { class: 'fatal', cool: false, reason: `status_${status}` };
}

function next(reason: string, cool = false): Verdict {
  return { class: 'next-candidate', cool, reason };
}
