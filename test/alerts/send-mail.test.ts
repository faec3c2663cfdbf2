import { describe, expect, it, onTestFinished } from 'vitest';
import { createMailSender } from '../../src/alerts/send-mail.ts';
import type { MailTarget } from '../../src/alerts/send-mail.ts';
import { createUrlGuard } from '../../src/upstream/guard/url-guard.ts';
import { startSmtpServer } from '../support/stage/smtp-server.ts';
import type { SmtpOptions, SmtpServer } from '../support/stage/smtp-server.ts';

const MAIL = { id: 'msg_1', subject: 'Budget blue: 80 %', text: 'Budget blue: 80 %\n\n.dot\n' };

async function setup(options: SmtpOptions = {}) {
  const server = await startSmtpServer(options);
  onTestFinished(() => server.close());
  const guard = createUrlGuard({ allow: ['127.0.0.1'] });
  onTestFinished(() => guard.close());
  return { server, send: createMailSender(guard) };
}

const targetOf = ({ port }: SmtpServer, smtp: Partial<MailTarget['smtp']> = {}): MailTarget => ({
  name: 'ops',
  to: ['ops@example.com', 'lead@example.com'],
  from: 'gateway@example.com',
  smtp: { host: '127.0.0.1', port, tls: 'off', ...smtp },
});

describe('mails', () => {
  it('are sent with the credentials, to everybody, under an id that stays', async () => {
    const { server, send } = await setup({ auth: 'gateway:hush' });
    const auth = { user: 'gateway', password: 'hush' };
    expect(await send(targetOf(server, { auth }), MAIL)).toEqual({ isDelivered: true });
    expect(server.taken).toMatchObject([
      {
        from: 'gateway@example.com',
        to: ['ops@example.com', 'lead@example.com'],
        id: 'msg_1@example.com',
      },
    ]);
    expect(server.taken[0]?.text).toContain('Subject: Budget blue: 80 %');
    expect(server.taken[0]?.text).toContain('\n.dot');
    expect(server.signIns).toEqual(['gateway:hush']);
  });

  it('are tried again where that may help, and say nothing of what is secret', async () => {
    const { server, send } = await setup({ auth: 'gateway:hush' });
    const auth = { user: 'gateway', password: 'wrong-word' };
    const refused = await send(targetOf(server, { auth }), MAIL);
    expect(refused).toMatchObject({ isDelivered: false, isFinal: false });
    expect(JSON.stringify(refused)).not.toContain('wrong-word');
    server.refusal = '451 later';
    const right = { user: 'gateway', password: 'hush' };
    expect(await send(targetOf(server, { auth: right }), MAIL)).toMatchObject({ isFinal: false });
    server.refusal = '554 never';
    expect(await send(targetOf(server, { auth: right }), MAIL)).toEqual({
      isDelivered: false,
      isFinal: true,
      reason: 'the mail server failed: EMESSAGE 554',
    });
    const { port } = server;
    await server.close();
    expect(await send(targetOf({ ...server, port }), MAIL)).toMatchObject({ isFinal: false });
    expect(server.taken).toEqual([]);
  });

  it('that some receivers do not get are told of with those who may get it later', async () => {
    const { server, send } = await setup();
    server.refuseTo.set('lead@example.com', '450 mailbox busy');
    expect(await send(targetOf(server), MAIL)).toEqual({
      isDelivered: false,
      isFinal: false,
      isRefused: false,
      left: ['lead@example.com'],
      reason: 'the mail server failed: EENVELOPE 450',
    });
    expect(server.taken).toMatchObject([{ to: ['ops@example.com'] }]);
    const to = ['ops@example.com', 'Lead@EXAMPLE.com', 'gone@example.com'];
    server.refuseTo.clear();
    server.refuseTo.set('Lead@example.com', '450 mailbox busy');
    server.refuseTo.set('gone@example.com', '550 no such mailbox');
    expect(await send({ ...targetOf(server), to }, MAIL)).toMatchObject({
      isFinal: false,
      isRefused: true,
      left: ['Lead@EXAMPLE.com'],
      reason: 'the mail server failed: EENVELOPE 550',
    });
    server.refuseTo.set('ops@example.com', '550 no such mailbox');
    const left = ['Lead@EXAMPLE.com'];
    expect(await send({ ...targetOf(server), to }, MAIL)).toMatchObject({ isFinal: false, left });
    server.refuseTo.delete('Lead@example.com');
    expect(await send({ ...targetOf(server), to }, MAIL)).toMatchObject({
      isFinal: true,
      isRefused: true,
      left: [],
    });
  });

  it('go once to a receiver who is named twice', async () => {
    const { server, send } = await setup();
    const to = ['ops@example.com', 'ops@example.com'];
    expect(await send({ ...targetOf(server), to }, MAIL)).toEqual({ isDelivered: true });
    expect(server.taken).toMatchObject([{ to: ['ops@example.com'] }]);
  });

  it('go nowhere without TLS unless that was said', async () => {
    const { server, send } = await setup();
    const told = await send(targetOf(server, { tls: 'starttls' }), MAIL);
    expect(told).toMatchObject({ isDelivered: false });
    expect([server.taken, server.signIns]).toEqual([[], []]);
  });

  it('go to no address of the own network that is not allowed', async () => {
    const { server } = await setup();
    const guard = createUrlGuard();
    onTestFinished(() => guard.close());
    const send = createMailSender(guard);
    for (const host of ['127.0.0.1', 'localhost', '169.254.169.254'])
      expect(await send(targetOf(server, { host }), MAIL)).toMatchObject({ isFinal: true });
    expect(server.taken).toEqual([]);
  });
});
