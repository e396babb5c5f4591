# Runs in the guest, as root. Writes a line "NAME RTT_US TPUT_MIB" for every rung, from the lowest.

set -euo pipefail

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
readonly results=/mnt/results address=10.77.0.1
touch "$results/up"
hostname ladder
ip link set lo up
ip link add rdma0 type dummy
ip link set rdma0 mtu 4200 up
ip addr add "$address/24" dev rdma0
rdma link add rxe0 type rxe netdev rdma0
ulimit -l unlimited

say() {
    echo "[$(cut -d ' ' -f 1 /proc/uptime)] $*"
}

# Starts a server that says "listening", and waits until it has.
serve() {
    coproc SERVER { exec "$@"; }
    server_pid=$SERVER_PID server_input=${SERVER[1]} server_output=${SERVER[0]}
    local line
    while read -r line <&"$server_output"; do
        case $line in
            listening*)
                listening=$line
                return
                ;;
        esac
    done
    say "no server: $*"
    return 1
}

end_server() {
    exec {server_input}>&-
    wait "$server_pid"
}

# perftest's server does not say when it listens: its client is tried again.
perftest() {
    local tool=$1 i out
    shift
    "$tool" -R -F "$@" > /dev/null 2>&1 &
    for ((i = 0; i < 50; i++)); do
        sleep 0.2
        if out=$("$tool" -R -F "$@" "$address" 2>&1); then
            wait
            grep -E '^ *[0-9]+ +[0-9]+ ' <<< "$out" | tail -n 1
            return
        fi
    done
    say "$tool: $out"
    return 1
}

say perftest
rtt=$(perftest ib_send_lat -s 64 -n 5000 | awk '{ print 2 * $5 }')
tput=$(perftest ib_send_bw -s 65536 -n 2000 | awk '{ print $4 }')
echo "perftest $rtt $tput" >> "$results/rungs"

two_ends() {
    local kind=$1 port=$2 bytes=$3 count=$4
    shift 4
    serve "$@" server "$kind" "$address" "$port" "$bytes" "$count"
    "$@" client "$kind" "$address" "$port" "$bytes" "$count" | awk '{ print $2 }'
    end_server
}

say librpma
rtt=$(two_ends rtt 7001 64 5000 "$LADDER")
tput=$(two_ends tput 7002 65536 2000 "$LADDER")
echo "librpma $rtt $tput" >> "$results/rungs"

java=("$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -Dio.rpma.provider=librpma -Xmx512m -XX:+UseSerialGC
    -cp "$TARGET/classes:$TARGET/lib/*")
say io.rpma
rtt=$(two_ends rtt 7003 64 12000 "${java[@]}" io.rpma.benchmark.LadderEnd)
tput=$(two_ends tput 7004 65536 2000 "${java[@]}" io.rpma.benchmark.LadderEnd)
echo "io.rpma $rtt $tput" >> "$results/rungs"

channel() {
    local measurement=$1
    serve "${java[@]}" io.rpma.benchmark.Peer server rpma "$measurement"
    "${java[@]}" io.rpma.benchmark.Peer client rpma "$measurement" 15000 4000 "${listening#*=}" "$server_pid"
    end_server
}

say RpmaChannel
rtt=$(channel rtt64 | sed -n 's/^P50=//p')
tput=$(channel bare64k | sed -n 's/^THROUGHPUT=//p' | awk '{ print $1 / 1.048576 }')
echo "RpmaChannel $rtt $tput" >> "$results/rungs"
say done
touch "$results/done"
