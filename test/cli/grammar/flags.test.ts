import { describe, expect, it } from 'vitest';
import type { FlagSpec } from '../../../src/cli/command.ts';
import { resolveFlags, type RawFlags } from '../../../src/cli/grammar/flags.ts';

const specs: FlagSpec[] = [
  { name: 'port', type: 'integer', max: 65_535, default: 8787, description: '' },
  { name: 'wait', type: 'duration', min: 1, description: '' },
  { name: 'watch', type: 'boolean', description: '' },
  { name: 'mode', type: 'string', choices: ['a', 'b'], description: '' },
  { name: 'tag', type: 'string', repeatable: true, description: '' },
];
const resolve = (given: RawFlags, env: Record<string, string> = {}) =>
  resolveFlags({ specs, given, env });

describe('flags', () => {
  it('prefer the command line to the environment to the default', () => {
    expect(resolve({}).values['port']).toBe(8787);
    expect(resolve({}, { GATEWAY_PORT: '1' }).values['port']).toBe(1);
    expect(resolve({ port: '2' }, { GATEWAY_PORT: '1' }).values['port']).toBe(2);
  });

  it('read switches and lists from the environment', () => {
    expect(resolve({}, { GATEWAY_WATCH: 'yes' }).values['watch']).toBe(true);
    expect(resolve({}, { GATEWAY_WATCH: '0' }).values['watch']).toBe(false);
    expect(resolve({}, { GATEWAY_TAG: 'a, b' }).values['tag']).toEqual(['a', 'b']);
    expect(resolve({}, { GATEWAY_WATCH: '' }).values['watch']).toBe(false);
  });

  it.each([
    [{ port: '70000' }, {}, '--port must be a whole number from 0 to 65535'],
    [{ port: '-1' }, {}, '--port'],
    [{ port: '1e3' }, {}, '--port'],
    [{ mode: 'c' }, {}, '--mode must be one of a, b, not "c"'],
    [{ wait: 'soon' }, {}, '--wait must be a duration such as 30s'],
    [{ wait: '0' }, {}, '--wait'],
    [{}, { GATEWAY_PORT: 'x' }, 'GATEWAY_PORT must be'],
    [{}, { GATEWAY_WATCH: 'maybe' }, 'GATEWAY_WATCH must be true or false'],
  ])('refuse %j %j', (given, env, message) => {
    expect(() => resolve(given, env)).toThrow(message);
  });

  it('take words of a vocabulary in one flag, and other values as they are', () => {
    const words: FlagSpec[] = [
      { name: 'scope', type: 'string', choices: ['a', 'b'], repeatable: true, description: '' },
      { name: 'by', type: 'string', offers: ['day'], repeatable: true, description: '' },
      { name: 'tag', type: 'string', repeatable: true, description: '' },
    ];
    const values = (given: RawFlags) => resolveFlags({ specs: words, given, env: {} }).values;
    expect(values({ scope: ['a,b', 'a'] })['scope']).toEqual(['a', 'b', 'a']);
    expect(values({ scope: ['a, b'] })['scope']).toEqual(['a', 'b']);
    expect(() => values({ scope: ['a,c'] })).toThrow('--scope must be one of a, b, not "c"');
    expect(values({ by: ['day,label:team'] })['by']).toEqual(['day', 'label:team']);
    expect(values({ by: ['{"a":1,"b":2}'] })['by']).toEqual(['{"a":1,"b":2}']);
    expect(values({ tag: ['a,b'] })['tag']).toEqual(['a,b']);
  });

  it('name the flag or the variable that cannot be next to another', () => {
    const pair: FlagSpec[] = [
      { name: 'tail', type: 'boolean', excludes: ['size', 'follow'], description: '' },
      { name: 'follow', type: 'boolean', description: '' },
      { name: 'size', type: 'integer', default: 3, description: '' },
    ];
    const both = (given: RawFlags, env: Record<string, string> = {}) =>
      resolveFlags({ specs: pair, given, env });
    expect(() => both({ follow: true, tail: true })).toThrow(
      '--tail and --follow cannot be combined',
    );
    expect(() => both({ tail: true }, { GATEWAY_FOLLOW: '1' })).toThrow(
      '--tail and GATEWAY_FOLLOW cannot be combined',
    );
    expect(() => both({ tail: true, size: '3' })).toThrow('--tail and --size');
    expect(both({ tail: true }, { GATEWAY_FOLLOW: '0' }).values).toMatchObject({ tail: true });
  });

  it('are set by variables of both names of a command, unless they differ', () => {
    const list = { name: 'deployments list', summary: '', examples: [] };
    const status: FlagSpec = { name: 'status', type: 'string', description: '' };
    const of = (env: Record<string, string>) =>
      resolveFlags({ specs: [status], command: list, given: {}, env }).values['status'];
    expect(of({ GATEWAY_SCHEDULES_LIST_STATUS: 'a' })).toBe('a');
    expect(of({ GATEWAY_DEPLOYMENTS_LIST_STATUS: 'a' })).toBe('a');
    const both = { GATEWAY_SCHEDULES_LIST_STATUS: 'a', GATEWAY_DEPLOYMENTS_LIST_STATUS: 'a' };
    expect(of(both)).toBe('a');
    expect(() => of({ ...both, GATEWAY_SCHEDULES_LIST_STATUS: 'b' })).toThrow('two names');
  });

  it('read durations in seconds or with a unit, as milliseconds', () => {
    const ms = (wait: string) => resolve({ wait }).values['wait'];
    expect(['2', '300ms', '5m', '30d'].map(ms)).toEqual([2000, 300, 300_000, 2_592_000_000]);
  });
});
