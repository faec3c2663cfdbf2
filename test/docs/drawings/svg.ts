export interface Drawing {
  width: number;
  height: number;
  title: string;
}

/** A drawing that is readable on light and dark pages: it brings its own background. */
export function svg({ width, height, title }: Drawing, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="13">
<title>${title}</title>
<style>
.page{fill:#fff}.box{fill:#f6f8fa;stroke:#8b949e}.main{fill:#ddf4ff;stroke:#0969da}.text{fill:#1f2328}.soft{fill:#59636e;font-size:11px}.line{fill:none;stroke:#8b949e;stroke-width:1.3}.tip{fill:#8b949e}
@media(prefers-color-scheme:dark){.page{fill:#0d1117}.box{fill:#161b22;stroke:#6e7681}.main{fill:#0c2d6b;stroke:#4493f8}.text{fill:#e6edf3}.soft{fill:#9198a1}}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>
<rect class="page" width="${width}" height="${height}" rx="10"/>
${parts.join('\n')}
</svg>
`;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  /** The first line is the name, the others say more about it. */
  lines: readonly string[];
  main?: boolean;
}

const LINE_HEIGHT = 17;

export function box({ x, y, width, height, lines, main = false }: Box): string {
  const top = y + height / 2 - ((lines.length - 1) * LINE_HEIGHT) / 2 + 5;
  const texts = lines.map((line, at) => {
    const look = at === 0 ? 'class="text" font-weight="600"' : 'class="soft"';
    return `<text ${look} x="${x + width / 2}" y="${top + at * LINE_HEIGHT}" text-anchor="middle">${line}</text>`;
  });
  return [
    `<rect class="${main ? 'main' : 'box'}" x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`,
    ...texts,
  ].join('\n');
}

/** A curve from the first point to the second that leaves and arrives along one axis. */
export function curve(from: Point, to: Point, axis: 'x' | 'y'): string {
  const [mx, my] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  const bend = axis === 'x' ? `${mx} ${from.y} ${mx} ${to.y}` : `${from.x} ${my} ${to.x} ${my}`;
  return `<path class="line" d="M${from.x} ${from.y}C${bend} ${to.x} ${to.y}"/>`;
}

/** A curve with a tip at its end. */
export const arrow = (...ends: Parameters<typeof curve>): string =>
  curve(...ends).replace('/>', ' marker-end="url(#tip)"/>');

export const line = (from: Point, to: Point): string =>
  `<path class="line" d="M${from.x} ${from.y}L${to.x} ${to.y}"/>`;

export interface Point {
  x: number;
  y: number;
}
