import { describe, expect, it } from 'vitest';
import type { ActualState, View } from '../../../src/config/actual/actual.ts';
import { declareObject, dump } from '../../../src/config/actual/dump.ts';
import { CONFIG_KINDS, type KindName } from '../../../src/config/objects/kinds.ts';

function stateOf(views: Partial<Record<KindName, readonly object[]>>): ActualState {
  const lists = CONFIG_KINDS.map(({ kind }) => [
    kind,
    (views[kind] ?? []).map((view, at) => ({ id: `${kind}_${at}`, version: 1, ...view })),
  ]);
  return Object.fromEntries(lists) as ActualState;
}

const ORGANIZATIONS = [{ name: 'o1' }, { name: 'o2' }];
const credential = (owner: number, name = 'gh') => ({
  name,
  organization: `organization_${owner}`,
  value_configured: true,
});

/** Variables of the secrets of a section, in its order. */
function variables(actual: ActualState, section: string, namespace?: string): unknown[] {
  const entries = dump({ actual, namespace })[section] as object[];
  return entries.map((one) => /\$\{secret:env:(\w+)\}/.exec(JSON.stringify(one))?.[1]);
}

describe('the variable of a secret in a dump', () => {
  it('is plain where no other secret has it, else with the organization', () => {
    const actual = stateOf({
      organization: ORGANIZATIONS,
      credential: [credential(0), credential(1), credential(1, 'other')],
    });
    expect(variables(actual, 'credentials')).toEqual([
      'CREDENTIAL_O1_GH_VALUE',
      'CREDENTIAL_O2_GH_VALUE',
      'CREDENTIAL_OTHER_VALUE',
    ]);
  });

  it('has a number where organizations do not tell them apart: the oldest has none', () => {
    const provider = (name: string, id: string) => ({
      name,
      id,
      provider_type: 'openai',
      api_key_configured: true,
    });
    const [older, newer] = [provider('foo-bar', 'prov_1'), provider('foo.bar', 'prov_2')];
    const expected = ['PROVIDER_FOO_BAR_API_KEY', 'PROVIDER_FOO_BAR_API_KEY_2'];
    expect(variables(stateOf({ provider: [older, newer] }), 'providers')).toEqual(expected);
    const reversed = variables(stateOf({ provider: [newer, older] }), 'providers');
    expect(reversed).toEqual(expected.toReversed());
  });

  it('is never one that another secret has by itself', () => {
    const actual = stateOf({
      organization: ORGANIZATIONS,
      credential: [credential(0), credential(1), credential(0, 'o1-gh')],
    });
    expect(variables(actual, 'credentials')).toEqual([
      'CREDENTIAL_O1_GH_VALUE_2',
      'CREDENTIAL_O2_GH_VALUE',
      'CREDENTIAL_O1_GH_VALUE',
    ]);
  });

  it('is the same whatever part is written, and what has ended does not count', () => {
    const schedule = (owner: number, more: object = {}) => ({
      name: 'nightly',
      organization: `organization_${owner}`,
      notification_settings_configured: true,
      labels: { 'gateway/namespace': `of-${owner}` },
      ...more,
    });
    const actual = stateOf({
      organization: ORGANIZATIONS,
      deployment: [schedule(0), schedule(1)],
    });
    const [first, second] = [0, 1].map((at) => variables(actual, 'deployments', `of-${at}`)[0]);
    expect([first, second]).toEqual([
      'DEPLOYMENT_O1_NIGHTLY_NOTIFICATION_SETTINGS',
      'DEPLOYMENT_O2_NIGHTLY_NOTIFICATION_SETTINGS',
    ]);
    const declared = declareObject('deployment', actual.deployment[0] as View, actual);
    expect(JSON.stringify(declared)).toContain(`\${secret:env:${String(first)}}`);
    const ended = stateOf({
      organization: ORGANIZATIONS,
      deployment: [schedule(0, { archived_at: '2026-01-01T00:00:00Z' }), schedule(1)],
    });
    expect(variables(ended, 'deployments')).toEqual(['DEPLOYMENT_NIGHTLY_NOTIFICATION_SETTINGS']);
  });
});
