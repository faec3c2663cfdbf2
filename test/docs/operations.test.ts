import { followPage } from './follow-page.ts';

await followPage('docs/operations/start-and-stop.md');
