// A small MCP server: one tool that reads, and one that Sluice refuses as a validation, because it publishes.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'links', version: '1.0.0' });

server.registerTool(
  'check_links',
  {
    description: 'Looks at the links in a text',
    inputSchema: { text: z.string() },
    outputSchema: {
      passed: z.boolean(),
      message: z.string(),
      data: z.object({ links: z.number(), insecure: z.number() }),
    },
    annotations: { readOnlyHint: true, destructiveHint: false },
  },
  ({ text }) => {
    const links = text.match(/https?:\/\/[^\s)]+/g) ?? [];
    const insecure = links.filter((link) => link.startsWith('http:')).length;
    const structuredContent = {
      passed: insecure === 0,
      message: `${links.length - insecure} of ${links.length} links are secure`,
      data: { links: links.length, insecure },
    };
    return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
  },
);

server.registerTool(
  'publish_notes',
  {
    description: 'Puts the notes on the web site',
    inputSchema: { text: z.string() },
    annotations: { readOnlyHint: false, destructiveHint: true },
  },
  () => ({ content: [{ type: 'text', text: 'published' }] }),
);

await server.connect(new StdioServerTransport());
