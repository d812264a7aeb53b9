// Prints the dashboard: node deploy/grafana/dashboard.mjs > deploy/grafana/sluice.json
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana
const SOURCE = { type: 'prometheus', uid: '${source}' };
const HIGH = 7;

/** Gauges of the fleet are told by several processes alike: never sum them over instances. */
const fleet = (metric, labels) => `max by (${labels}) (${metric}{namespace=~"$namespace"})`;
const rate = (metric, labels) =>
  `sum by (${labels}) (rate(${metric}{namespace=~"$namespace"}[$__rate_interval]))`;
const quantile = (q, metric, label) =>
  `histogram_quantile(${q}, sum by (le, ${label}) (rate(${metric}_bucket{namespace=~"$namespace"}[$__rate_interval])))`;

/** Rows of panels: title, unit, and pairs of a query and its legend. */
const ROWS = [
  [
    'Work',
    [
      ['Waiting jobs', 'short', [[fleet('sluice_queue_waiting', 'queue, shard'), '{{queue}} {{shard}}']]],
      [
        'Oldest waiting job',
        's',
        [[fleet('sluice_queue_oldest_seconds', 'queue, shard'), '{{queue}} {{shard}}']],
      ],
      ['Jobs in hand', 'short', [[fleet('sluice_queue_active', 'queue, shard'), '{{queue}} {{shard}}']]],
      ['Jobs put off', 'short', [[fleet('sluice_queue_delayed', 'queue, shard'), '{{queue}} {{shard}}']]],
    ],
  ],
  [
    'Checks',
    [
      ['Checks by outcome', 'ops', [[rate('sluice_checks_total', 'outcome'), '{{outcome}}']]],
      ['Checks by validator', 'ops', [[rate('sluice_checks_total', 'validator'), '{{validator}}']]],
      [
        'Duration of a check, 95 %',
        's',
        [[quantile(0.95, 'sluice_check_duration_seconds', 'kind'), '{{kind}}']],
      ],
      ['Packs by end', 'ops', [[rate('sluice_packs_total', 'queue, end'), '{{queue}} {{end}}']]],
      [
        'Duration of a pack, 95 %',
        's',
        [[quantile(0.95, 'sluice_pack_duration_seconds', 'queue'), '{{queue}}']],
      ],
      [
        'Tried again and stalled',
        'ops',
        [
          [rate('sluice_retries_total', 'queue'), 'again {{queue}}'],
          [rate('sluice_stalled_total', 'queue'), 'stalled {{queue}}'],
        ],
      ],
    ],
  ],
  [
    'Decisions and delivery',
    [
      ['Decisions by status', 'ops', [[rate('sluice_decisions_total', 'status'), '{{status}}']]],
      [
        'Undecided chunks',
        'short',
        [['max(sluice_open_evaluations_chunks{namespace=~"$namespace"})', 'open']],
      ],
      ['Deliveries', 'ops', [[rate('sluice_deliveries_total', 'sink, result'), '{{sink}} {{result}}']]],
      [
        'Oldest undelivered event',
        's',
        [[fleet('sluice_outbox_oldest_undelivered_seconds', 'sink'), '{{sink}}']],
      ],
      ['Dead letters', 'short', [[fleet('sluice_dead_letters', 'direction'), '{{direction}}']]],
      [
        'Sinks that are away or disabled',
        'short',
        [
          [
            'max by (sink, state) (sluice_sink_state{state!="delivering", namespace=~"$namespace"})',
            '{{sink}} {{state}}',
          ],
        ],
      ],
    ],
  ],
  [
    'Capacity',
    [
      [
        'Workers',
        'short',
        [
          ['max(sluice_workers{role="worker", namespace=~"$namespace"})', 'alive'],
          ['max(sluice_workers_wanted{namespace=~"$namespace"})', 'wanted'],
        ],
      ],
      ['Roles', 'short', [[fleet('sluice_workers', 'role'), '{{role}}']]],
      [
        'Memory of Redis',
        'bytes',
        [
          ['max(sluice_redis_used_memory_bytes{namespace=~"$namespace"})', 'used'],
          ['max(sluice_redis_max_memory_bytes{namespace=~"$namespace"})', 'limit (0: none)'],
        ],
      ],
      [
        'Round trip of Redis, 99 %',
        's',
        [[quantile(0.99, 'sluice_redis_command_seconds', 'job'), '{{job}}']],
      ],
      [
        'Memory of processes',
        'bytes',
        [['process_resident_memory_bytes{namespace=~"$namespace"}', '{{instance}}']],
      ],
      [
        'Requests of the API',
        'ops',
        [[rate('sluice_http_requests_total', 'status_class'), '{{status_class}}']],
      ],
    ],
  ],
];

function panel(id, [title, unit, queries], at) {
  return {
    id,
    type: 'timeseries',
    title,
    datasource: SOURCE,
    gridPos: { ...at, w: 8, h: HIGH },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(([expr, legendFormat], i) => ({
      refId: String.fromCharCode(65 + i),
      datasource: SOURCE,
      expr,
      legendFormat,
    })),
  };
}

export function dashboard() {
  const panels = [];
  let y = 0;
  for (const [title, own] of ROWS) {
    panels.push({ id: panels.length + 1, type: 'row', title, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] });
    y += 1;
    own.forEach((one, i) => {
      panels.push(panel(panels.length + 1, one, { x: (i % 3) * 8, y: y + Math.floor(i / 3) * HIGH }));
    });
    y += Math.ceil(own.length / 3) * HIGH;
  }
  return {
    uid: 'sluice',
    title: 'Sluice',
    tags: ['sluice'],
    schemaVersion: 39,
    editable: true,
    refresh: '10s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { name: 'source', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        {
          name: 'namespace',
          label: 'Namespace',
          type: 'query',
          datasource: SOURCE,
          query: 'label_values(sluice_build_info, namespace)',
          includeAll: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
          refresh: 2,
        },
      ],
    },
    annotations: { list: [] },
    panels,
  };
}

if (argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(dashboard(), null, 2));
