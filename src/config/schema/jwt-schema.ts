import { z } from 'zod';
import { dollars } from '../../resources/fields/fields.ts';
import { TAKEN_SCOPES, toScope } from '../../core/access.ts';

/** Algorithms that need no shared secret (RFC 7518, 3.1; RFC 8037). */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;

const url = z
  .string()
  .refine((text) => /^https?:/.test(text) && URL.canParse(text), 'expected an http or https URL');

const claim = z.string().min(1).max(256);

/** Value of a claim, and its bound. */
const bounded = <T extends z.ZodType>(most: T) =>
  z
    .object({
      claim: claim.nullable().default(null).describe('Claim that says it.'),
      most: most
        .nullable()
        .default(null)
        .describe('Its upper bound, and what holds where the claim is absent.'),
    })
    .nullable()
    .default(null);

const cap = (what: string) => bounded(z.int().min(1).max(1_000_000_000)).describe(what);
const amount = (what: string) => bounded(dollars).describe(what);

const limits = z.object({
  rpm_cap: cap('Requests in any 60 seconds.'),
  tpm_cap: cap('Tokens in a minute of the clock.'),
  tpd_cap: cap('Tokens in a day (UTC).'),
  concurrency_cap: cap('Requests in flight at once.'),
  spending_day: amount('USD per calendar day (UTC).'),
  spending_month: amount('USD per calendar month (UTC).'),
});

const roles = z.object({
  claim: claim.describe('Claim that holds roles: a text, or a list of them.'),
  scopes: z
    .record(
      z.string().min(1).max(256),
      z
        .array(z.enum(TAKEN_SCOPES).exclude(['admin']))
        .min(1)
        .overwrite((scopes) => scopes.map(toScope)),
    )
    .describe('What each role may be used for.'),
});

const issuer = z
  .object({
    issuer: url.describe('Exact `iss` of its tokens.'),
    audience: z
      .union([claim.transform((one) => [one]), z.array(claim).min(1).max(16)])
      .describe('`aud` of which a token must have one.'),
    jwks_uri: url
      .nullable()
      .default(null)
      .describe('Where its public keys are; null: as its OpenID configuration says.'),
    algorithms: z
      .array(z.enum(ALGORITHMS))
      .min(1)
      .default(['RS256', 'PS256', 'ES256', 'EdDSA'])
      .describe('Algorithms of signatures that are accepted.'),
    subject: claim.default('sub').describe('Claim that names the subject.'),
    organization: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe('Organization of all of its subjects.'),
    organization_claim: claim
      .nullable()
      .default(null)
      .describe('Claim that names the organization of a subject.'),
    labels: z
      .record(z.string().regex(/^(?!gateway\/).{1,128}$/), claim)
      .default({})
      .describe('Labels of the keys of its subjects, each with the claim that says it.'),
    roles: roles
      .nullable()
      .default(null)
      .describe('What its tokens may be used for; null: inference and models.'),
    limits: limits.prefault({}).describe('Limits of each subject.'),
  })
  .refine(
    (one) => (one.organization === null) !== (one.organization_claim === null),
    'expected organization or organization_claim',
  );

const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'expected lower case letters, digits and -');

export const jwtSettings = z.object({
  issuers: z
    .record(name, issuer)
    .refine((all) => {
      const urls = Object.values(all).map((one) => one.issuer);
      return new Set(urls).size === urls.length;
    }, 'one issuer is there twice')
    .default({})
    .describe(
      'Whose tokens are accepted in place of keys, by name: that of the keys of its subjects, NAME/SUBJECT.',
    ),
});

/** An issuer of tokens. */
export interface JwtIssuer extends z.output<typeof issuer> {
  readonly name: string;
}
