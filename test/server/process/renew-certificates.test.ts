import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Log } from '../../../src/core/log.ts';
import { renewCertificates } from '../../../src/server/process/renew-certificates.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: unknown;
}

const EVENTS = ['SIGHUP', 'message'] as const;
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the certificate of what is served', () => {
  let lines: Line[];
  let renewals: number;
  /** Answers of the next renewals; true when there are no more. */
  let answers: (boolean | Error | Promise<boolean>)[];
  let tls: { cert: string; key: string };
  beforeEach(async () => {
    lines = [];
    renewals = 0;
    answers = [];
    const directory = await directoryOfTest();
    tls = { cert: join(directory, 'one.crt'), key: join(directory, 'one.key') };
  });

  const listeners = () => EVENTS.map((event) => process.listeners(event as 'SIGHUP').length);

  function begin(files: typeof tls | null = tls) {
    const line = (level: string) => (message: string, fields?: unknown) =>
      void lines.push({ level, message, fields });
    const log = { info: line('info'), warn: line('warn'), error: line('error') } as unknown as Log;
    const before = EVENTS.map((event) => process.listeners(event as 'SIGHUP'));
    const renew = async (): Promise<boolean> => {
      renewals++;
      const answer = await (answers.shift() ?? true);
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const stop = renewCertificates({ renew }, files, log);
    onTestFinished(stop);
    const own = EVENTS.map((event, index) =>
      process.listeners(event as 'SIGHUP').find((one) => !before[index]?.includes(one)),
    );
    const [onSignal, onMessage] = own as unknown as ((message?: unknown) => void)[];
    return { stop, onSignal, onMessage };
  }

  it('is left alone where there is none', async () => {
    const before = listeners();
    const { stop } = begin(null);
    await settled();
    expect(renewals).toBe(0);
    expect(listeners()).toEqual(before);
    stop();
  });

  it('is looked at once at the start, for it may have changed meanwhile', async () => {
    begin();
    await settled();
    expect(renewals).toBe(1);
    expect(lines).toEqual([
      { level: 'info', message: 'certificate renewed', fields: { file: tls.cert } },
    ]);
  });

  it('is looked at on a hang-up, and when the first process says so', async () => {
    const { onSignal, onMessage } = begin();
    await settled();
    onSignal?.();
    await settled();
    expect(renewals).toBe(2);
    onMessage?.({ type: 'gateway:beat' });
    onMessage?.(null);
    await settled();
    expect(renewals).toBe(2);
    onMessage?.({ type: 'gateway:renew' });
    await settled();
    expect(renewals).toBe(3);
  });

  it('is no news where it is the same', async () => {
    answers = [false];
    begin();
    await settled();
    expect(renewals).toBe(1);
    expect(lines).toEqual([]);
  });

  it('serves on where the new one is bad, until a good one comes', async () => {
    answers = [new Error('no key')];
    const { onSignal } = begin();
    await settled();
    expect(lines).toEqual([
      {
        level: 'error',
        message: 'the certificate was not renewed; the former one serves on',
        fields: { reason: 'no key' },
      },
    ]);
    onSignal?.();
    await settled();
    expect(lines[1]).toMatchObject({ level: 'info' });
  });

  it('is renewed once at a time', async () => {
    let finish = (_isNew: boolean): void => undefined;
    answers = [new Promise<boolean>((resolve) => (finish = resolve))];
    const { onSignal } = begin();
    await settled();
    onSignal?.();
    await settled();
    expect(renewals).toBe(1);
    finish(true);
    await settled();
    expect(renewals).toBe(2);
    expect(lines).toHaveLength(2);
  });

  it('is renewed on a hang-up where its files cannot be watched', async () => {
    const { onSignal } = begin({ ...tls, cert: join(tls.cert, 'not/there.crt') });
    await settled();
    expect(lines[0]).toMatchObject({
      level: 'warn',
      message: 'the files of the certificate cannot be watched; send SIGHUP after a change',
      fields: { reason: expect.stringContaining('ENOENT') },
    });
    onSignal?.();
    await settled();
    expect(renewals).toBe(2);
  });

  it('is not looked at any more once that stopped', () => {
    const before = listeners();
    const { stop } = begin();
    expect(listeners()).toEqual(before.map((count) => count + 1));
    stop();
    expect(listeners()).toEqual(before);
  });
});
