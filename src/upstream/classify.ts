import { readErrorBody } from './error-body.ts';

/** Consequence of an upstream failure for the request. */
export type FailureClass = 'retry-here' | 'next-candidate' | 'fatal';

export interface Verdict {
  class: FailureClass;
  /** The account's credential is refused or out of funds: skip all of its routes for a while. */
  cool: boolean;
  /** Reason in the request record: `status_503`, `credential`, `billing`, `unknown_model`, `wrong_address`. */
  reason: string;
}

/** A provider's own rule, asked first: see `ProviderDefinition.classify`. */
export interface StatusRule {
  classify?: (status: number, body: string) => FailureClass | undefined;
}

/** 4xx that say nothing about the request itself. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 421, 425]);

/** Statuses of a credential that is unknown, unpaid or not permitted, at a proxy on the way (407), too. */
const CREDENTIAL: ReadonlySet<number> = new Set([401, 402, 403, 407]);

/** Most characters that are searched of an error body. */
const READ_CHARS = 4096;

/** Google's "exceeded your current quota" is missing on purpose: a passing rate has the same text. */
const BILLING =
  /insufficient[_ ](quota|balance|credits?|funds)|credit balance is too low|billing_(hard_limit_reached|not_active)|account_deactivated/i;

const BAD_KEY =
  /API_KEY_(INVALID|EXPIRED)|API key (not valid|expired)|invalid_api_key|incorrect api key/i;

/**
 * Signs of one cause in an answer that is about the request otherwise. Vendors quote there what the
 * client sent, so nothing is searched for: a code counts, and a message that is the vendor's own from its
 * beginning. Where that cools an account its end counts, too, because some messages begin with the name
 * of a member, which the client chose, and a colon.
 */
interface Signs {
  /** Codes, types and reasons, in lower case. */
  readonly names: readonly string[];
  readonly messages: readonly RegExp[];
}

const UNPAID: Signs = {
  names: [
    'insufficient_quota',
    'insufficient_balance',
    'insufficient_credits',
    'insufficient_funds',
    'billing_hard_limit_reached',
    'billing_not_active',
    'account_deactivated',
  ],
  messages: [
    /^(?:your credit balance is too low|insufficient (?:quota|balance|credits?|funds))[^:"'`]*$/i,
  ],
};

const REFUSED_KEY: Signs = {
  names: ['api_key_invalid', 'api_key_expired', 'invalid_api_key'],
  messages: [
    /^API key (?:not valid|expired)[^:"'`]*$/i,
    /^incorrect API key provided(?:: \S+)?(?: You can [^:"'`]*(?:https:\/\/\S+)?)?$/i,
  ],
};

const UNKNOWN_MODEL: Signs = {
  names: [
    'model_not_found',
    'model_not_available',
    'model_decommissioned',
    'unknown_model',
    'invalid_model',
    'deploymentnotfound',
  ],
  messages: [
    // Gateways in between put the kind of the error in front.
    /^(?:[\w.]+: )?(?:\w+ - )?(?:(?:the|this|requested|specified|publisher) )*models?(?:[ /]\S+)? (?:(?:is|was|does) )?(?:not exist|not found|no longer available)\b/i,
    /^(?:unknown|no such) model\b/i,
    /^invalid model(?: name| id(?:entifier)?)?(?::| ["'`]| passed)/i,
    /^model: \S+$/,
    /^\S+ is not a valid model ID\.?$/i,
    /^no endpoints found for /i,
    /^the API deployment for this resource does not exist\b/i,
  ],
};

/** Model that is not this account's to use, in the words of a 403 that speaks of nothing else. */
const CLOSED_MODEL = /model_not_found|not have access to (the )?model/i;

/** 403 that speaks of what the client sent or named, and nothing of our credential. */
const OF_REQUEST = /moderation|input was flagged|access the file\b|cached ?content/i;

/**
 * Says what to do about an HTTP error of a provider (design: inference, step 5).
 *
 * - 408, 409, 421, 425, 429, 5xx and redirects: the next candidate.
 * - 401, 402, 403, 407: the next candidate, and the account is cooled; so it is where a 429 says that our
 *   key or our balance is at fault, and where a code or a whole message does whatever the status. A 403
 *   about the model, or about content or files of the client, cools nothing: it would turn others away as
 *   well.
 * - 404, 403 and 400 that name an unknown model, and 404 and 405 that are not JSON: our route or address
 *   is wrong, not the request, so the next candidate. Any other 404 is about something the request
 *   refers to and is the client's.
 * - Every other 4xx: the client's fault, `fatal`.
 */
export function classifyStatus(status: number, body: string, rule: StatusRule = {}): Verdict {
  const usual = usualVerdict(status, body);
  const own = rule.classify?.(status, body);
  if (own === undefined || own === usual.class) return usual;
  return { class: own, cool: false, reason: `status_${status}` };
}

function usualVerdict(status: number, body: string): Verdict {
  if (status >= 500 || status < 400) return next(`status_${status}`);
  const isOfAccount = CREDENTIAL.has(status) || status === 429;
  return isOfAccount
    ? accountVerdict(status, body.slice(0, READ_CHARS))
    : requestVerdict(status, body);
}

/** The status says whose fault it is; the text says which. */
function accountVerdict(status: number, text: string): Verdict {
  if (status === 403 && CLOSED_MODEL.test(text)) return next('unknown_model');
  if (status === 403 && OF_REQUEST.test(text)) return next('status_403');
  if (BILLING.test(text)) return next('billing', true);
  if (CREDENTIAL.has(status) || BAD_KEY.test(text)) return next('credential', true);
  return next(`status_${status}`);
}

function requestVerdict(status: number, body: string): Verdict {
  const told = readErrorBody(body);
  const text = told.message ?? body.slice(0, READ_CHARS);
  const shows = ({ names, messages }: Signs): boolean =>
    names.some((name) => told.names.has(name)) || messages.some((one) => one.test(text));
  if (shows(UNPAID)) return next('billing', true);
  if (shows(REFUSED_KEY)) return next('credential', true);
  if (PASSING.has(status)) return next(`status_${status}`);
  if ((status === 404 || status === 400) && shows(UNKNOWN_MODEL)) return next('unknown_model');
  if ((status === 404 || status === 405) && !/^\s*[{[]/.test(body)) return next('wrong_address');
  return { class: 'fatal', cool: false, reason: `status_${status}` };
}

function next(reason: string, cool = false): Verdict {
  return { class: 'next-candidate', cool, reason };
}
