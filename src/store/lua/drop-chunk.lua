-- Takes a decided chunk of a batch away, with its evaluations, its results, and the blobs that nobody else uses.
-- KEYS[1] key prefix; ARGV 1 chunk, 2 batch, 3 place in the batch's log up to which it is gone then ('' for
-- none), 4 how many evaluations that place stands for
-- Returns how many evaluations went; -1: it is not decided, and nothing was done
local p = KEYS[1]
local key, b = p .. 'chunk:' .. ARGV[1], p .. 'batch:' .. ARGV[2]
local c = redis.call('HMGET', key, 'left', 'm', 'h')
if c[1] and tonumber(c[1]) > 0 then return -1 end
if ARGV[3] ~= '' and redis.call('EXISTS', b) == 1 then
  redis.call('HSET', b, 'gone_to', ARGV[3])
  redis.call('HINCRBY', b, 'gone', ARGV[4])
end
redis.call('ZREM', b .. ':chunks', ARGV[1])
if not c[2] then return 0 end
local fields, stages = redis.call('HGETALL', key), {}
for i = 1, #fields, 2 do
  if string.match(fields[i], '^s%d*$') then stages[fields[i + 1]] = true end
end
for stage in pairs(stages) do to_whole('UNLINK', p .. 'rs:' .. ARGV[1] .. ':' .. stage) end
forget_recorded(p, ARGV[1])
redis.call('UNLINK', key)
local digests, evaluations = {}, cjson.decode(c[2]).evaluations
for _, e in ipairs(evaluations) do
  redis.call('UNLINK', p .. 'eval:' .. e.id)
  digests[e.subject] = true
  digests[e.scenario] = true
end
if c[3] then
  digests = {}
  for digest in string.gmatch(c[3], '[^,]+') do digests[digest] = true end
end
for digest in pairs(digests) do let_blob_go(p, digest) end
return #evaluations
