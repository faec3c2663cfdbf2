import { describe, expect, it } from 'vitest';
import {
  fieldOf,
  isSecretPath,
  secretAt,
  signalOf,
  withoutSecrets,
  withSecret,
} from '../../../src/resources/fields/secret-path.ts';

const PATHS = ['api_key', 'tls.key'];

describe('paths of write-only fields', () => {
  it('name the field that is sent, and the member that tells of them', () => {
    expect(PATHS.map(fieldOf)).toEqual(['api_key', 'tls']);
    expect(PATHS.map(signalOf)).toEqual(['api_key_configured', 'tls_key_configured']);
  });

  it('cover their members and nothing beside them', () => {
    expect(isSecretPath(PATHS, ['tls', 'key'])).toBe(true);
    expect(isSecretPath(PATHS, ['api_key', 'around'])).toBe(true);
    expect(isSecretPath(PATHS, ['tls'])).toBe(false);
    expect(isSecretPath(PATHS, ['tls', 'cert'])).toBe(false);
  });

  it.each([
    [{ tls: { key: 'k' } }, 'k'],
    [{ tls: { key: null } }, null],
    [{ tls: null }, null],
    [{ tls: {} }, undefined],
    [{ tls: 'text' }, undefined],
    [{}, undefined],
  ])('lead in %j to %j', (body, value) => {
    expect(secretAt(body, 'tls.key')).toBe(value);
  });

  it('are taken away and put in without a change of what they stand in', () => {
    const body = { api_key: 'a', tls: { cert: 'c', key: 'k' }, name: 'one' };
    const copy = structuredClone(body);
    expect(withoutSecrets(body, PATHS)).toEqual({ tls: { cert: 'c' }, name: 'one' });
    expect(withoutSecrets({ tls: null }, PATHS)).toEqual({ tls: null });
    expect(withSecret(body, 'tls.key', 'n')).toEqual({ ...copy, tls: { cert: 'c', key: 'n' } });
    expect(withSecret({}, 'tls.key', 'n')).toEqual({ tls: { key: 'n' } });
    expect(body).toEqual(copy);
  });
});
