import { describe, expect, it } from 'vitest';
import { scanJson } from '../../src/core/json/json-document.ts';
import { createKeyHasher } from '../../src/core/seal.ts';
import { NO_RULES, promptCacheKey, readOrigin } from '../../src/inference/request-origin.ts';
import { originRules } from '../../src/server/compose/open-inference.ts';
import { verifies } from '../requirements.ts';
import { principal } from '../usage/usage-fixtures.ts';

const SESSION = '0f9e4a52-71c1-4a36-9d0e-0a4f5a4a6c11';
const bodyOf = (body: object) => scanJson(Buffer.from(JSON.stringify(body)));
const conversationOf = (headers: Record<string, string>, body: object = {}) =>
  readOrigin({ headers }, bodyOf(body))?.conversation;
const withUser = (user_id: unknown) => conversationOf({}, { metadata: { user_id } });

describe('readOrigin', () => {
  it(
    verifies(
      'conversations.headers',
      'reads the conversation from the headers of each coding tool, the neutral one first',
    ),
    () => {
      for (const name of [
        'x-claude-code-session-id',
        'session-id',
        'thread-id',
        'x-session-id',
        'x-session-affinity',
        'x-gateway-conversation',
      ])
        expect(conversationOf({ [name]: ` ${SESSION} ` }), name).toBe(SESSION);
      const both = { 'session-id': 'one', 'thread-id': 'two', 'x-session-id': 'three' };
      expect(conversationOf(both)).toBe('one');
      expect(conversationOf({ ...both, 'x-gateway-conversation': 'mine' })).toBe('mine');
      expect(conversationOf({ 'x-gateway-conversation': '', 'thread-id': 'two' })).toBe('two');
    },
  );

  it(
    verifies('conversations.headers', 'reads the session that Claude Code writes into its user id'),
    () => {
      const hash = 'a'.repeat(64);
      expect(withUser(`user_${hash}_account__session_${SESSION}`)).toBe(SESSION);
      expect(withUser(`user_${hash}_account_${SESSION}_session_11112222`)).toBe('11112222');
      const parts = { device_id: hash, account_uuid: '', session_id: SESSION };
      expect(withUser(JSON.stringify(parts))).toBe(SESSION);
      const metadata = { user_id: JSON.stringify(parts) };
      expect(conversationOf({ 'x-session-id': 'header' }, { metadata })).toBe('header');
    },
  );

  it(
    verifies(
      'conversations.not-set-by',
      'takes neither a key of the prompt cache nor the id of any other user for a conversation',
    ),
    () => {
      const body = { prompt_cache_key: 'cache-1', user: 'user-1' };
      expect(conversationOf({}, body)).toBeUndefined();
      expect(promptCacheKey(bodyOf(body))).toBe('cache-1');
      for (const user of [
        'alice@example.com',
        'user_1_session_2',
        '{"session":"s"}',
        '{broken',
        '{"session_id":7}',
        7,
        null,
      ])
        expect(withUser(user), String(user)).toBeUndefined();
    },
  );

  it(
    verifies('usage.end-user', 'reads the end user, and keeps it as the operator wants it'),
    () => {
      const endUserOf = (body: object, endUser = (id: string): string | undefined => id) =>
        readOrigin({ headers: {} }, bodyOf(body), { ...NO_RULES, endUser })?.endUser;
      expect(endUserOf({ user: 'alice' })).toBe('alice');
      expect(endUserOf({ metadata: { user_id: 'bob' } })).toBe('bob');
      expect(endUserOf({ user: 'alice', metadata: { user_id: 'bob' } })).toBe('alice');
      const user_id = `{"device_id":"d","session_id":"${SESSION}"}`;
      expect(endUserOf({ metadata: { user_id } })).toBeUndefined();
      const { hashes } = createKeyHasher([Buffer.alloc(32, 1)]);
      const { hashes: others } = createKeyHasher([Buffer.alloc(32, 2)]);
      const rulesOf = (endUsers: 'plain' | 'hashed' | 'off', hasher = { hashes }) =>
        originRules({ labels: [], tags: [], endUsers }, hasher).endUser;
      const hashed = endUserOf({ user: 'alice' }, rulesOf('hashed'));
      expect(hashed).toMatch(/^user_[\w-]{22}$/);
      expect(endUserOf({ user: 'alice' }, rulesOf('hashed'))).toBe(hashed);
      expect(endUserOf({ user: 'bob' }, rulesOf('hashed'))).not.toBe(hashed);
      expect(endUserOf({ user: 'alice' }, rulesOf('hashed', { hashes: others }))).not.toBe(hashed);
      expect(endUserOf({ user: 'alice' }, rulesOf('plain'))).toBe('alice');
      expect(endUserOf({ user: 'alice' }, rulesOf('off'))).toBeUndefined();
      expect(endUserOf({ user: 'x'.repeat(300) })).toMatch(/^sha256:/);
      expect(endUserOf({ user: 'a\ud800' })).toMatch(/^sha256:/);
      expect(endUserOf({ user: 7, metadata: [] })).toBeUndefined();
    },
  );

  it(
    verifies('usage.tags-allow-list', 'reads the tags and the labels that are allowed, no other'),
    () => {
      const rules = { ...NO_RULES, tags: ['feature', 'beta'], labels: ['team'] };
      const principal = { labels: { team: 'core', cost_center: '7', 'gateway/owner': 'x' } };
      const tags = 'feature=search=fast , secret=1, beta,, feature2=x';
      const source = { headers: { 'x-gateway-tags': tags }, principal };
      expect(readOrigin(source, undefined, rules)).toEqual({
        labels: { team: 'core' },
        tags: { feature: 'search=fast', beta: 'true' },
      });
      expect(readOrigin(source)).toBeUndefined();
      const other = { headers: { 'x-gateway-tags': 'secret=1,__proto__=2,feature=' } };
      expect(readOrigin(other, undefined, rules)).toBeUndefined();
    },
  );

  it('keeps ids apart that are no plain ids, without keeping them', () => {
    const [one, other] = ['a', 'b'].map((end) =>
      conversationOf({ 'x-session-id': 'x'.repeat(5_000) + end }),
    );
    expect(one).toMatch(/^sha256:[\w-]{43}$/);
    expect(one).not.toBe(other);
    expect(conversationOf({ 'x-session-id': 'two words' })).toMatch(/^sha256:/);
  });

  it('prefers what the gateway knows by itself, and tells nothing of a request without it', () => {
    const origin = { conversation: 'sess_1' };
    expect(readOrigin({ headers: { 'x-session-id': 'other' }, origin })).toEqual(origin);
    expect(readOrigin({ headers: {} }, bodyOf({ metadata: {} }))).toBeUndefined();
  });

  it('keeps the beginning of a long label', () => {
    const team = `t${'0'.repeat(200)}`;
    const rules = { ...NO_RULES, labels: ['team'] };
    const source = { headers: {}, principal: { ...principal(), labels: { team } } };
    expect(readOrigin(source, undefined, rules)?.labels).toEqual({ team: team.slice(0, 128) });
  });
});
