import { followPage } from './follow-page.ts';

await followPage('docs/clients.md');
