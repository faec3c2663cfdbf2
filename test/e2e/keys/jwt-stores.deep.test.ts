import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { storePlaces } from '../../store/support/store-places.ts';
import { CHAT_PATH, chatBody } from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { AUDIENCE, startOidcIssuer } from '../../support/stage/oidc-issuer.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const TIMEOUT_MS = 120_000;
const places = storePlaces();
const drivers = places.drivers.filter((one) => one !== 'fs');

describe.each(inTurn('tokens', drivers))('tokens on %s', (driver) => {
  it(
    verifies(
      'jwt.inference',
      'are of one subject on two nodes: its limit is exact, and its revocation reaches both',
    ),
    async () => {
      const issuer = await startOidcIssuer({ alice: { rpm: 9 } });
      onTestFinished(() => issuer.stop());
      const directory = await directoryOfTest();
      const config = {
        providers: [{ name: 'lab', type: 'mock' }],
        models: [{ name: 'lab/one', routes: [{ provider: 'lab', upstream_model: 'one' }] }],
        organizations: [{ name: 'team' }],
        server: {
          store: await places.fresh(driver),
          jwt: {
            issuers: {
              corp: {
                issuer: issuer.url,
                audience: AUDIENCE,
                organization: 'team',
                limits: { rpm_cap: { claim: 'rpm' } },
              },
            },
          },
        },
      };
      const start = async (binary: boolean): Promise<TestGateway> => {
        const gateway = await startGateway(config, { binary, directory });
        onTestFinished(async () => void (await gateway.stop()));
        return gateway;
      };
      // One process opens a file of lmdb once.
      const nodes = [await start(driver === 'lmdb'), await start(false)] as const;
      const tokens = await Promise.all([issuer.token('alice'), issuer.token('alice')]);
      const chat = (call: number) =>
        nodes[call % 2]!.call('POST', CHAT_PATH, {
          key: tokens[(call >> 1) % 2]!,
          body: chatBody('lab/one'),
        });
      const answers = await Promise.all(Array.from({ length: 50 }, (_, call) => chat(call)));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(9);
      expect(statuses.filter((status) => status === 429)).toHaveLength(41);

      const { body } = await nodes[0].admin('GET', '/admin/v1/keys');
      const own = body.data.filter(({ name }: { name: string }) => name === 'corp/alice');
      expect(own).toHaveLength(1);
      await nodes[0].admin('POST', `/admin/v1/keys/${own[0].id}/revoke`);
      for (const call of [0, 1])
        await eventually(async () => {
          const { status, body: told } = await chat(call);
          return status === 401 && told.error === 'API key has been revoked';
        }, 1_500);
    },
    TIMEOUT_MS,
  );
});
