import { describe, expect, it } from 'vitest';
import type { WireProtocol } from '../../../src/protocols/protocol.ts';
import type { Catalog } from '../../../src/routing/catalog.ts';
import { createHealth } from '../../../src/routing/health.ts';
import type { NameStep } from '../../../src/routing/name-rules.ts';
import { reportPlan } from '../../../src/server/routes/plan-report.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../../support/catalog.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const PROTOCOLS = [
  { id: 'chat' },
  { id: 'messages' },
  { id: 'generate-content', bareNames: true },
  { id: 'generate-content' },
] as unknown as WireProtocol[];

const MODELS = [
  fakeModel('acme/fast', [fakeRoute('acme'), fakeRoute('spare', { priority: 1 })]),
  fakeModel('acme/grand', [fakeRoute('acme', { protocols: new Set(['generate-content']) })]),
];

function ask(search: string, overrides: Partial<Catalog> = {}) {
  return reportPlan(search, {
    catalog: () => ({ ...fakeCatalog(...MODELS), ...overrides }),
    health: createHealth({ clock: createFakeClock() }),
    protocols: PROTOCOLS,
  });
}

const steps = (...all: NameStep[]): Partial<Catalog> => ({ stepsTo: () => all });

describe('the report of a plan', () => {
  it('says where a request would go, and how its name led there', () => {
    const report = ask('?model=acme/fast');
    expect(report).toMatchObject({
      protocol: 'chat',
      asked: 'acme/fast',
      model: 'acme/fast',
      resolved_by: [{ rule: 'model', by: 'acme/fast', gives: 'acme/fast' }],
      left_out: [],
    });
    expect(report.candidates.map(({ provider }) => provider)).toEqual(['acme', 'spare']);
  });

  it('goes by the protocol of the client', () => {
    expect(ask('?model=acme/fast&protocol=').protocol).toBe('chat');
    expect(ask('?model=acme/fast&protocol=messages')).toMatchObject({
      protocol: 'messages',
      candidates: [],
      left_out: [{ provider: 'acme' }, { provider: 'spare' }],
    });
  });

  it('keeps the order of a sticky model for the same affinity, and not for every one', () => {
    const routes = ['a', 'b', 'c', 'd'].map((name) => fakeRoute(name));
    const sticky = fakeModel('acme/sticky', routes, { strategy: 'sticky' });
    const orderOf = (affinity: string) =>
      ask(`?model=acme/sticky&affinity=${affinity}`, fakeCatalog(sticky))
        .candidates.map(({ provider }) => provider)
        .join('');
    expect(orderOf('key_1')).toBe(orderOf('key_1'));
    const orders = Array.from({ length: 20 }, (_, index) => orderOf(`key_${index}`));
    expect(new Set(orders).size).toBeGreaterThan(1);
  });

  it('adds the vendor to a bare name where the protocol takes such names', () => {
    const report = ask('?model=grand&protocol=generate-content');
    expect(report).toMatchObject({ asked: 'grand', model: 'acme/grand' });
    expect(report.resolved_by).toEqual([
      { rule: 'vendor', by: 'acme', gives: 'acme/grand' },
      { rule: 'model', by: 'acme/grand', gives: 'acme/grand' },
    ]);
    const whole = ask('?model=acme/grand&protocol=generate-content');
    expect(whole.resolved_by).toEqual([{ rule: 'model', by: 'acme/grand', gives: 'acme/grand' }]);
    expect(() => ask('?model=grand')).toThrow(expect.objectContaining({ code: 'model_not_found' }));
  });

  it('refuses a protocol that nobody speaks, and names each of those that are spoken once', () => {
    expect(() => ask('?model=acme/fast&protocol=smtp')).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        param: 'protocol',
        message: '`protocol` must be one of chat, messages, generate-content',
      }),
    );
  });

  it.each(['', '?model=', '?model=&protocol=chat'])(
    'refuses to be asked for no model: %j',
    (search) => {
      expect(() => ask(search)).toThrow(
        expect.objectContaining({
          code: 'invalid_request',
          param: 'model',
          message: '`model` is required',
        }),
      );
    },
  );
});

describe('a model that there is not', () => {
  const refusal = (message: string) =>
    expect.objectContaining({ code: 'model_not_found', param: 'model', message });

  it.each([
    ['acme/fas', '; did you mean acme/fast?'],
    ['acme/fa', '; did you mean acme/fast?'],
    ['acme/fastxx', '; did you mean acme/fast?'],
    ['acme/f', ''],
    ['acme/fastxxx', ''],
    ['other', ''],
  ])('is near to another one or to none: %s', (name, hint) => {
    expect(() => ask(`?model=${name}`)).toThrow(refusal(`no model ${name}${hint}`));
  });

  it('is taken for the first of several names as near', () => {
    const shown = ['m/bb', 'm/ab', 'm/cb'].map((id) => fakeModel(id, []));
    expect(() => ask('?model=m/xb', { shown: () => shown })).toThrow(
      refusal('no model m/xb; did you mean m/ab?'),
    );
  });

  it('may be what an alias leads to', () => {
    const dead = steps({ rule: 'alias', by: 'old', gives: 'acme/gone' });
    expect(() => ask('?model=old', dead)).toThrow(
      refusal('the alias old leads to acme/gone, which no model or provider serves'),
    );
  });

  it('may be switched off', () => {
    const off = steps(
      { rule: 'alias', by: 'old', gives: 'acme/off' },
      { rule: 'model', by: 'acme/off', gives: 'acme/off' },
    );
    expect(() => ask('?model=old', off)).toThrow(refusal('acme/off is switched off'));
  });
});
