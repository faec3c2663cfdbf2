/** A directed graph: each node with its successors. Every successor is a node. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

export function toGraph(nodes: Iterable<string>, edges: Iterable<[string, string]>): Graph {
  const graph = new Map<string, Set<string>>();
  for (const node of nodes) graph.set(node, new Set());
  for (const [from, to] of edges) if (from !== to && graph.has(to)) graph.get(from)?.add(to);
  return graph;
}

/** The sets of two or more nodes that reach each other (strongly connected components, Tarjan). */
export function circlesOf(graph: Graph): string[][] {
  const circles: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const path: string[] = [];
  const onPath = new Set<string>();
  const visit = (node: string): void => {
    const own = index.size;
    index.set(node, own);
    low.set(node, own);
    path.push(node);
    onPath.add(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (onPath.has(next))
        low.set(node, Math.min(low.get(node) as number, low.get(next) as number));
    }
    if (low.get(node) !== own) return;
    const circle = path.splice(path.lastIndexOf(node));
    for (const member of circle) onPath.delete(member);
    if (circle.length > 1) circles.push(circle.sort());
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return circles.sort((a, b) => b.length - a.length);
}

/** Orders that are tried per circle; more than ten never found a better one in this tree. */
const STARTS = 20;

/**
 * The arrows that point back in the best order of the nodes, which is the one with the fewest such arrows
 * (a minimum feedback arc set). Arrows between two circles never point back. Within a circle the best order
 * is searched for: from a fixed set of orders each node moves to its best position until none improves.
 */
export function arrowsUp(graph: Graph): string[] {
  return circlesOf(graph).flatMap((circle) => {
    const within = new Set(circle);
    const part = toGraph(
      circle,
      circle.flatMap((from) =>
        [...(graph.get(from) ?? [])]
          .filter((to) => within.has(to))
          .map((to): [string, string] => [from, to]),
      ),
    );
    const tries = Array.from({ length: STARTS }, (_, seed) =>
      arrowsBack(part, improve(part, shuffle(circle, seed))),
    );
    return tries.reduce((best, next) => (next.length < best.length ? next : best));
  });
}

function arrowsBack(graph: Graph, order: readonly string[]): string[] {
  const position = new Map(order.map((node, at) => [node, at]));
  return order.flatMap((from, at) =>
    [...(graph.get(from) ?? [])]
      .filter((to) => (position.get(to) as number) < at)
      .map((to) => `${from} -> ${to}`),
  );
}

function improve(graph: Graph, start: readonly string[]): string[] {
  const order = [...start];
  for (let improved = true; improved;) {
    improved = false;
    for (const node of start) {
      const from = order.indexOf(node);
      order.splice(from, 1);
      const to = bestPosition(graph, order, { node, from });
      order.splice(to, 0, node);
      improved ||= to !== from;
    }
  }
  return order;
}

/** Where `node` has the fewest arrows back among `order`, which lacks it; `from` unless another is better. */
function bestPosition(
  graph: Graph,
  order: readonly string[],
  { node, from }: { node: string; from: number },
): number {
  const out = graph.get(node) as ReadonlySet<string>;
  // Relative to the first position; each step over a neighbour adds or removes one arrow back.
  const costs = [0];
  for (const [at, other] of order.entries()) {
    const change = Number(out.has(other)) - Number(graph.get(other)?.has(node));
    costs.push((costs[at] as number) + change);
  }
  const least = Math.min(...costs);
  return costs[from] === least ? from : costs.indexOf(least);
}

/** The same order for the same seed, on every machine; seed 0 keeps the order. */
function shuffle(nodes: readonly string[], seed: number): string[] {
  if (seed === 0) return [...nodes];
  let state = seed;
  const keys = new Map(
    nodes.map((node) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return [node, state >>> 8];
    }),
  );
  return [...nodes].sort((a, b) => (keys.get(a) as number) - (keys.get(b) as number));
}
