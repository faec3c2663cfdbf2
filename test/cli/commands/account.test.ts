import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderBars } from '../../../src/cli/output/bar-chart.ts';
import { createStyle } from '../../../src/cli/output/style.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { runCli } from '../run-cli.ts';
import type { CliRun } from '../run-cli.ts';

describe('the account on the command line', () => {
  let gateway: TestGateway;
  let key: string;
  beforeAll(async () => {
    gateway = await startGateway({
      organizations: [{ name: 'team', spending_limit: { lifetime: '5', day: 2 } }],
      providers: [{ name: 'acme', type: 'mock' }],
      models: [
        { name: 'acme/one', routes: [{ provider: 'acme', pricing: { per_call: '0.10' } }] },
        { name: 'acme/two', routes: [{ provider: 'acme', pricing: { per_call: '0.05' } }] },
      ],
    });
    const body = { name: 'reader', organization: 'team' };
    key = (await gateway.admin('POST', '/admin/v1/keys', body)).body.value;
    for (const model of ['acme/one', 'acme/two']) await gateway.chat(model, { key });
    await eventually(async () => {
      const { body: found } = await gateway.call('GET', '/v1/account/executions', { key });
      return found.data.length === 2;
    });
  });
  afterAll(() => gateway.stop());

  const run = (...argv: string[]): Promise<CliRun> =>
    runCli(argv, { env: { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: key } });

  it('shows balance and limits without an admin key', async () => {
    const shown = await run('account');
    expect(shown.stderr).toBe('');
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/^balance +-0\.15$/m);
    expect(shown.stdout).toMatch(/^lifetime +0\.15 +5\.00$/m);
    expect(shown.stdout).toMatch(/^month +0\.15 +-$/m);
    expect((await run('account', '--quiet')).stdout).toBe('-0.15\n');
    expect((await run('account', '--json')).json()).toMatchObject({
      data: { currency: 'USD', balance: '-0.15', spent: '0.15', spending_limit: '5.00' },
    });
  });

  it('rotates a key, and repeats no value that was given', async () => {
    const body = { name: 'turned', organization: 'team' };
    await gateway.admin('POST', '/admin/v1/keys', body);
    const given = 'sk-given-0123456789abcdef0123456789abcdef';
    const access = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey };
    const rotate = (...more: string[]) =>
      runCli(['keys', 'rotate', 'turned', '--overlap', '0', '-o', 'json', ...more], {
        env: { ...access, GIVEN: given },
      });
    const taken = await rotate('--value-env', 'GIVEN');
    expect(taken.json().data).toMatchObject({ name: 'turned' });
    expect(taken.stdout + taken.stderr).not.toContain(given);
    expect((await rotate()).json().data.value).toMatch(/^sk-/);
  });

  it('lists calls, newest first', async () => {
    const { data } = (await run('executions', '--json')).json();
    expect(data.map(({ model }: { model: string }) => model)).toEqual(['acme/two', 'acme/one']);
    const ids = data.map(({ id }: { id: string }) => id);
    expect((await run('executions', '--quiet', '-n', '1')).stdout).toBe(`${ids[0]}\n`);
    expect((await run('executions', '--model', 'acme/one')).stdout).toMatch(/acme\/one +chat +200/);
  });

  it('shows own use as a table and as bars', async () => {
    expect((await run('usage', '--own')).stdout).toMatch(/^acme\/one +1 +0/m);
    const chart = await run('usage', '--own', '--chart');
    expect(chart.stdout).toBe(
      `acme/one  ${'█'.repeat(40)} 0.10 USD\nacme/two  ${'█'.repeat(20)} 0.05 USD\n`,
    );
    expect((await run('usage')).code).toBe(4);
    expect((await run('usage', '--own', '--organization', 'team')).code).toBe(64);
  });
});

describe('bars', () => {
  const style = createStyle(false);

  it('are as long as their values, and never empty for what is not nothing', () => {
    const bars = [
      { label: 'a', value: 1000, text: '1000' },
      { label: 'long', value: 1, text: '1' },
      { label: 'b', value: 0, text: '0' },
    ];
    expect(renderBars(bars, style).split('\n')).toEqual([
      `a     ${'█'.repeat(40)} 1000`,
      'long  ▏ 1',
      'b     0',
    ]);
    expect(renderBars([{ label: 'a', value: 0, text: '0' }], style)).toBe('a  0');
    expect(renderBars([], style)).toBe('');
  });
});
