// Makes the pictures of docs/console: every page, light and dark, of a gateway with the built-in mock.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openBrowser, signIn, visit } from './support/browser.ts';
import { startShop, trade } from './support/shop.ts';

const OUT = fileURLToPath(new URL('../../docs/console/', import.meta.url));
/** Time in which a page has drawn what it shows. */
const DRAWN_MS = 800;

const shop = await startShop();
const browser = await openBrowser();
try {
  await mkdir(OUT, { recursive: true });
  await trade(shop, 60);
  const { headers } = await shop.chat('team/fast');
  const services = await shop.call('GET', '/v1/endpoints', { key: shop.ownerKey });
  const [service] = services.body.data;
  const run = await shop.call('POST', service.urls.rest, {
    body: { input: 'Where is order A-17?' },
  });
  const pages = {
    requests: `requests?open=${headers.get('x-request-id')}`,
    costs: 'costs',
    sessions: `sessions/${run.body.session_id}`,
    explain: 'explain?model=team/fast',
    keys: 'keys?new=1',
    schedules: 'schedules?zone=Europe/Berlin',
    services: `services?open=${service.id}`,
    configuration: 'configuration?kind=models',
    playground: 'playground?model=openai/gpt-5-mini',
    audit: 'audit',
  };
  for (const colorScheme of ['light', 'dark'] as const) {
    const visitor = await visit(browser, { colorScheme });
    await signIn(visitor.page, shop.url, shop.ownerKey);
    for (const [name, path] of Object.entries(pages)) {
      await visitor.page.goto(`${shop.url}/console/${path}`);
      await visitor.page.getByRole('heading', { level: 1 }).waitFor();
      // Streams are never idle: the pages have this long to draw.
      await visitor.page.waitForTimeout(DRAWN_MS);
      if (name === 'playground') {
        await visitor.page.getByRole('button', { name: 'Send' }).click();
        await visitor.page.getByText('Show the request').first().waitFor();
      }
      if (name === 'sessions') await visitor.page.getByRole('button', { name: 'Allow' }).waitFor();
      await visitor.page.screenshot({ path: `${OUT}${name}-${colorScheme}.png` });
    }
    await visitor.end();
  }
} finally {
  await browser.close();
  await shop.stop();
}
