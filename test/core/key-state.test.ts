import { expect, it } from 'vitest';
import { keyState } from '../../src/core/key-state.ts';

const NOW = Date.parse('2026-11-29T12:00:00Z');

it.each([
  [{}, 'active'],
  [{ enabled: true, expires_at: null, revoked_at: null }, 'active'],
  [{ expires_at: '2026-11-29T12:00:00.001Z' }, 'active'],
  [{ expires_at: '2026-11-29T12:00:00Z' }, 'expired'],
  [{ enabled: false, expires_at: '2026-11-29T11:00:00Z' }, 'expired'],
  [
    { enabled: false, revoked_at: '2026-11-01T00:00:00Z', expires_at: '2026-11-02T00:00:00Z' },
    'revoked',
  ],
  [{ enabled: false }, 'disabled'],
])('the state of %j is %s', (key, state) => {
  expect(keyState(key, NOW)).toBe(state);
});

it('is disabled where the organization is, unless it is over anyway', () => {
  expect(keyState({}, NOW, false)).toBe('disabled');
  expect(keyState({ revoked_at: '2026-11-01T00:00:00Z' }, NOW, false)).toBe('revoked');
});
