/** Reason codes of MQTT 5 that a broker may give about a message or a connection. */
const REASONS: Readonly<Record<number, string>> = {
  128: 'unspecified error',
  129: 'malformed packet',
  130: 'protocol error',
  131: 'implementation specific error',
  135: 'not authorized',
  137: 'server busy',
  138: 'banned',
  139: 'server shutting down',
  141: 'keep alive timeout',
  142: 'session taken over',
  143: 'topic filter invalid',
  144: 'topic name invalid',
  145: 'packet identifier in use',
  147: 'receive maximum exceeded',
  149: 'packet too large',
  150: 'message rate too high',
  151: 'quota exceeded',
  152: 'administrative action',
  153: 'payload format invalid',
  155: 'QoS not supported',
  158: 'shared subscriptions not supported',
};

/** Another client took the session by connecting with the same id. */
export const TAKEN_OVER = 142;
export const TOO_LARGE = 149;

/** Trying again cannot help. */
const FINAL: ReadonlySet<number> = new Set([144, TOO_LARGE, 153]);
/** A broker that ends the connection so does not like what was sent on it. */
const UPSET: ReadonlySet<number> = new Set([129, 130, 144, TOO_LARGE, 153, 155]);

export const isFinal = (code: number): boolean => FINAL.has(code);
export const isUpset = (code: number | undefined): boolean => code !== undefined && UPSET.has(code);

/** A reason code in words. */
export const reasonOf = (code: number | undefined): string =>
  code === undefined || code === 0 ? 'no reason given' : (REASONS[code] ?? `reason ${code}`);
