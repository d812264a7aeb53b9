/** The dashboard as Grafana takes it. */
export function dashboard(): { panels: object[] };
