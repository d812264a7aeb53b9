import { type DoctorCheck, type Finding, ok, type ToolsOfServer, warn } from '../check.js';

/** How long a server may take to start and to list its tools. */
const LONGEST_MS = 5000;

const ADVICE = 'Calls of its tools end as errors until it answers: see mcp_servers in the settings.';

async function look(name: string, tools: ToolsOfServer): Promise<Finding> {
  const late = AbortSignal.timeout(LONGEST_MS);
  const began = performance.now();
  try {
    const listed = await tools(late);
    if ('kind' in listed) return warn(listed.message, ADVICE);
    const ms = Math.round(performance.now() - began);
    const count = listed.length === 1 ? '1 tool' : `${listed.length} tools`;
    return ok(
      `the MCP server ${name} lists ${count}, after ${ms} ms`,
      listed.length === 0 ? 'There is nothing to call.' : `To register them: sluice tool discover ${name}`,
    );
  } catch (error) {
    const why = late.aborted
      ? `does not list its tools within ${LONGEST_MS / 1000} s`
      : `cannot be looked at: ${(error as Error).message}`;
    return warn(`the MCP server ${name} ${why}`, ADVICE);
  }
}

/** One finding for each MCP server of the settings: whether it starts and answers. */
export const mcpCheck: DoctorCheck = {
  name: 'mcp',
  run: ({ mcpServers = {} }) =>
    Promise.all(Object.entries(mcpServers).map(([name, tools]) => look(name, tools))),
};
