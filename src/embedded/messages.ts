import { z } from 'zod';

/** What a guard tells its users: one JSON object a line. `loading` only says that it is still alive. */
const guardMessageSchema = z.discriminatedUnion('status', [
  z.object({ status: z.literal('loading') }),
  z.object({
    status: z.literal('ready'),
    port: z.number().int().min(1).max(65_535),
    password: z.string().min(1),
  }),
  z.object({ status: z.literal('failed'), code: z.enum(['IO', 'REDIS_VERSION']), message: z.string() }),
]);
export type GuardMessage = z.infer<typeof guardMessageSchema>;

export function encodeMessage(message: GuardMessage): string {
  return `${JSON.stringify(message)}\n`;
}

export function parseMessage(line: string): GuardMessage | undefined {
  try {
    return guardMessageSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
