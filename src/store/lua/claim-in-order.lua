-- Claims for the consumer that leads a reader: what was claimed before and not acknowledged, else what is new.
-- KEYS[1] key prefix; ARGV 1 reader, 2 consumer, 3 how many at most, 4 milliseconds that the lead lasts
-- Returns 1 (leads) or 0, entries, and the position behind which a new one would come
local p = KEYS[1]
local reader, consumer, count = ARGV[1], ARGV[2], ARGV[3]
local lead, stream = p .. 'lead:' .. reader, p .. 'outbox'
local leader = redis.call('GET', lead)
if leader and leader ~= consumer then return { 0, {}, '' } end
redis.call('SET', lead, consumer, 'PX', ARGV[4])
-- One name for all leaders, so that what one held is the next one's at once.
local entries = {}
for _, entry in ipairs(redis.call('XAUTOCLAIM', stream, reader, 'leader', 0, '0-0', 'COUNT', count)[2]) do
  if entry then entries[#entries + 1] = entry end
end
if #entries == 0 then
  local found = redis.call('XREADGROUP', 'GROUP', reader, 'leader', 'COUNT', count, 'STREAMS', stream, '>')
  if found and found[1] then entries = found[1][2] end
end
local last = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)
return { 1, entries, last[1] and last[1][1] or '0-0' }
