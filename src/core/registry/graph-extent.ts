import { canonicalJson } from '../json.js';
import { MOST_GRAPHS, MOST_WRAPPINGS } from './closure.js';
import type { CodedProblem } from './codes.js';
import { callableIn, type Entries, nodesOf, usedBy } from './lookup.js';
import type { CallableDocument } from './model.js';

/** Most calls that one call of a graph may come to, those of graphs in it included. */
const MOST_CALLS = 1000;
/** Most characters of a graph with all that it calls, as a running evaluation keeps it. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** Most documents on one way down; what goes further is too deep in any case. */
const MOST_LEVELS = MOST_GRAPHS * (MOST_WRAPPINGS + 1) + 1;

/** What a call comes to, with all that is called in it. */
interface Extent {
  /** Graphs in each other; 0 where there is none. */
  graphs: number;
  calls: number;
  characters: number;
}

const ONE_CALL: Extent = { graphs: 0, calls: 1, characters: 0 };

/** What is too much about a graph, which does not contain itself. */
export function extentProblems(entries: Entries, document: CallableDocument): CodedProblem[] {
  const { graphs, calls, characters } = extentOf(entries, document, new Map(), 0);
  const path = 'graph.nodes';
  if (graphs > MOST_GRAPHS) {
    const message = `would nest graphs more than ${MOST_GRAPHS} deep`;
    return [{ code: 'GRAPH_TOO_DEEP', path, message, found: `${graphs}` }];
  }
  const problems: CodedProblem[] = [];
  if (calls > MOST_CALLS) {
    const message = `would make more than ${MOST_CALLS} calls, with those of the graphs in it`;
    problems.push({ code: 'GRAPH_TOO_LARGE', path, message, found: `${calls}` });
  }
  if (characters > MOST_CHARACTERS) {
    const message = `would be larger than ${MOST_CHARACTERS / 1024 / 1024} MiB with all that it calls`;
    problems.push({ code: 'GRAPH_TOO_LARGE', path, message, found: `${characters} characters` });
  }
  return problems;
}

/** Each document is looked at once, however often it is called. */
function extentOf(
  entries: Entries,
  document: CallableDocument,
  known: Map<string, Extent>,
  level: number,
): Extent {
  const { name } = document;
  const before = known.get(name);
  if (before !== undefined) return before;
  if (level > MOST_LEVELS) return { ...ONE_CALL, graphs: MOST_GRAPHS + 1 };
  // Until it is known, for those who come back to it: that they do is told by itself.
  known.set(name, ONE_CALL);
  const extent = (each: string): Extent => {
    const called = callableIn(entries, each);
    return called === undefined ? ONE_CALL : extentOf(entries, called, known, level + 1);
  };
  const nodes = nodesOf(document);
  const inner = [...new Set(usedBy(document))].map(extent);
  const whole: Extent = {
    graphs: Math.max(0, ...inner.map(({ graphs }) => graphs)) + (nodes.length > 0 ? 1 : 0),
    calls:
      nodes.length > 0
        ? nodes.reduce((sum, { tool }) => sum + extent(tool).calls, 0)
        : Math.max(1, ...inner.map(({ calls }) => calls)),
    characters: canonicalJson(document).length + inner.reduce((sum, { characters }) => sum + characters, 0),
  };
  known.set(name, whole);
  return whole;
}
