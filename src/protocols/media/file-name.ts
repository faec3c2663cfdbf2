/** Extensions of files that are no PDF, by media type; the usual one first. */
const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  'text/plain': ['txt', 'log'],
  'text/csv': ['csv'],
  'text/html': ['html', 'htm'],
  'text/markdown': ['md'],
  'text/xml': ['xml'],
  'application/json': ['json'],
};
const PDF = 'application/pdf';

/** Name for a file without one. */
export function fileName(mediaType: string): string {
  const [extension = 'pdf'] = EXTENSIONS[mediaType] ?? [];
  return `document.${extension}`;
}

/** Media type of a file that has only a name; PDF where the name does not show it. */
export function mediaTypeOfName(name: string | undefined): string {
  const extension = /\.(\w+)$/.exec(name ?? '')?.[1]?.toLowerCase() ?? '';
  return Object.entries(EXTENSIONS).find(([, known]) => known.includes(extension))?.[0] ?? PDF;
}
