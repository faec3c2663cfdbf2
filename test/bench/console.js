// The console: what its open pages cost the data plane, how long the queries of its pages take where there
// are many records, and how soon and how evenly its pages are drawn.
import { measureFeed } from './console/feed.js';
import { measurePages } from './console/pages.js';
import { measureQueries } from './console/queries.js';

/**
 * @param {{ root: string, directory: string, ms: number, rounds: number, only?: string, records: number }} options
 */
export async function measureConsole(options) {
  const part = (options.only ?? '').split('/')[1];
  if (!part || part === 'feed') await measureFeed(options);
  if (!part || part === 'pages') await measurePages(options);
  // Stores are filled first, which takes longer than all other parts together: only who asks waits for it.
  if (options.only && (!part || part === 'queries')) await measureQueries(options);
}
