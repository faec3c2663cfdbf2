import { z } from 'zod';
import { ROLES, TAKEN_SCOPES, toScope } from '../../core/access.ts';
import { parseDuration } from '../../core/time/duration.ts';

const MINUTE_MS = 60_000;
const LONGEST_MS = 30 * 24 * 60 * MINUTE_MS;

/** Milliseconds. */
const lifetime = z.union([z.string(), z.number()]).transform((value, context) => {
  try {
    const ms = parseDuration(value);
    if (ms >= MINUTE_MS && ms <= LONGEST_MS) return ms;
  } catch {
    // Reported below, as one that is out of range.
  }
  context.addIssue({ code: 'custom', message: 'expected a duration between 1m and 30d' });
  return z.NEVER;
});

const issuer = z
  .string()
  .refine(
    (text) => /^https?:\/\/[^\s?#@]+$/.test(text) && URL.canParse(text),
    'expected an http or https URL without user, query and fragment',
  )
  .refine(
    (text) => !text.startsWith('http:') || isOfThisMachine(text),
    'expected https: over http others on the network could sign in as anybody',
  );

const mapping = z.object({
  group: z.string().min(1).max(256).describe('Group of the provider, as its claim names it.'),
  organization: z.string().min(1).max(256).describe('Name of the organization to act in.'),
  role: z.enum(ROLES).describe('What its people may do there.'),
  scopes: z
    .array(z.enum(TAKEN_SCOPES))
    .overwrite((scopes) => scopes.map(toScope))
    .nullable()
    .default(null)
    .describe('Where they may go; null: everything but admin.'),
});

/** `server.sso`: the OpenID provider that people sign in with, and their roles. */
export const ssoSettings = z.object({
  issuer: issuer.describe('Issuer of the OpenID provider; its discovery document lies below it.'),
  client_id: z.string().min(1).max(512).describe('Id of the gateway as a client of the provider.'),
  client_secret: z
    .string()
    .min(1)
    .optional()
    .describe('Secret reference of its secret. Default: a public client.'),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'expected a scope of OAuth'))
    .max(32)
    .default(['openid', 'email', 'groups'])
    .describe('Scopes that are asked for; openid always is.'),
  groups_claim: z
    .string()
    .min(1)
    .max(256)
    .default('groups')
    .describe('Claim of the ID token that lists the groups of a person.'),
  lifetime: lifetime
    .prefault('8h')
    .describe('How long a sign-in lasts; then the person signs in again.'),
  roles: z
    .array(mapping)
    .min(1)
    .max(1_000)
    .describe('What groups may do. The first that fits counts; a person of none is refused.'),
});

function isOfThisMachine(text: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(text).hostname);
}
