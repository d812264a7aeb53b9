--
-- PostgreSQL database dump
--
CREATE TABLE public.orders (
    id bigint NOT NULL,
    placed_at timestamp with time zone NOT NULL,
    total_cents integer NOT NULL
);
COPY public.orders (id, placed_at, total_cents) FROM stdin;
1001	2026-03-13 08:12:44+00	4990
1002	2026-03-13 09:40:02+00	12900
1003	2026-03-13 17:55:31+00	2450
\.
--
-- PostgreSQL database dump complete
--
