-- Chunks that wait for a worker, the oldest first; those that are decided or gone are forgotten on the way.
-- KEYS[1] key prefix; ARGV 1 how many at most, then chunks (none: all)
-- Returns chunk, needs as JSON and since when of each
local p = KEYS[1]
local limit, found, from = tonumber(ARGV[1]), {}, 0

local function take(chunk, since)
  local left = redis.call('HGET', p .. 'chunk:' .. chunk, 'left')
  local needs = redis.call('HGET', p .. 'unserved:needs', chunk)
  if left and tonumber(left) > 0 and needs then
    found[#found + 1] = { chunk, needs, since }
    return true
  end
  redis.call('ZREM', p .. 'unserved', chunk)
  redis.call('HDEL', p .. 'unserved:needs', chunk)
  return false
end

if #ARGV > 1 then
  for i = 2, #ARGV do
    local since = redis.call('ZSCORE', p .. 'unserved', ARGV[i])
    if since then take(ARGV[i], since) end
  end
  table.sort(found, function(a, b)
    if a[3] == b[3] then return a[1] < b[1] end
    return tonumber(a[3]) < tonumber(b[3])
  end)
else
  repeat
    local page = redis.call('ZRANGE', p .. 'unserved', from, from + 99, 'WITHSCORES')
    for i = 1, #page, 2 do
      -- What is forgotten leaves its place to the next one.
      if #found < limit and take(page[i], page[i + 1]) then from = from + 1 end
    end
  until #page == 0 or #found >= limit
end
local answer = {}
for i = 1, math.min(limit, #found) do
  for n = 1, 3 do answer[#answer + 1] = found[i][n] end
end
return answer
