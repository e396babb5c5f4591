# Runs in the guest, as root. Writes a line "NAME RTT_US TPUT_MIB" for every rung, starting with the lowest, once for each
# round. There are several rounds because the speed of a guest changes from one minute to the next.

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

# Starts a server that prints "listening", and waits until it has done so.
serve() {
    coproc SERVER { exec "$@"; }
    server_pid=$SERVER_PID server_input=${SERVER[1]} server_output=${SERVER[0]}
    local line
    while read -r -t 60 line <&"$server_output"; do
        case $line in
            listening*)
                listening=$line
                return
                ;;
        esac
    done
    say "no server: $*" >&2
    abandon_server
    return 1
}

# No process of a failed run may be left when the next rung is measured.
abandon_server() {
    kill -9 "$server_pid" 2> /dev/null || true
    wait "$server_pid" 2> /dev/null || true
}

# Ends a server by closing its input. Returns whether the server succeeded.
end_server() {
    exec {server_input}>&-
    wait "$server_pid"
}

# Prints the result of a rung. QEMU's emulated processors occasionally run an outdated translation of code that a JVM is
# compiling, which makes the JVM crash. The rung is then measured again, and the log says so. A repeated failure makes the rung
# fail.
measured() {
    local i out
    for ((i = 0; i < 5; i++)); do
        if out=$("$@"); then
            echo "$out"
            return
        fi
        say "failed, and measured again: $*" >&2
    done
    return 1
}

# perftest's server does not report when it listens, so its client is started repeatedly.
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

two_ends() {
    local kind=$1 port=$2 bytes=$3 count=$4
    shift 4
    serve "$@" server "$kind" "$address" "$port" "$bytes" "$count" || return
    if ! timeout 120 "$@" client "$kind" "$address" "$port" "$bytes" "$count" | awk '{ print $2 }'; then
        abandon_server
        return 1
    fi
    end_server
}

java=("$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -Dio.rpma.provider=librpma -Xmx512m -XX:+UseSerialGC
    -XX:ErrorFile="$results/hs_err_%p.log" -cp "$TARGET/classes:$TARGET/lib/*")
# The event loops poll without end, as the ends of the other rungs do. The default of at most 50 us was measured on real
# processors, and is shorter than a round trip on emulated ones. The warm-up is long because compilers are slow here too.
channel() {
    local measurement=$1
    serve "${java[@]}" -Dio.rpma.netty.polling=spin io.rpma.benchmark.Peer server rpma "$measurement" || return
    if ! timeout 120 "${java[@]}" -Dio.rpma.netty.polling=spin io.rpma.benchmark.Peer client rpma "$measurement" 20000 6000 \
            "${listening#*=}" "$server_pid"; then
        abandon_server
        return 1
    fi
    end_server
}

# rung NAME RTT_US TPUT_MIB
rung() {
    say "$*"
    echo "$*" >> "$results/rungs"
}

for ((round = 1; round <= ROUNDS; round++)); do
    rtt=$(perftest ib_send_lat -s 64 -n 5000 | awk '{ print 2 * $5 }')
    tput=$(perftest ib_send_bw -s 65536 -n 5000 | awk '{ print $4 }')
    rung perftest "$rtt" "$tput"
    rtt=$(two_ends rtt 7001 64 5000 "$LADDER")
    tput=$(two_ends tput 7002 65536 5000 "$LADDER")
    rung librpma "$rtt" "$tput"
    rtt=$(measured two_ends rtt 7003 64 20000 "${java[@]}" io.rpma.benchmark.LadderEnd)
    tput=$(measured two_ends tput 7004 65536 12000 "${java[@]}" io.rpma.benchmark.LadderEnd)
    rung io.rpma "$rtt" "$tput"
    rtt=$(measured channel rtt64 | sed -n 's/^P50=//p')
    tput=$(measured channel bare64k | sed -n 's/^THROUGHPUT=//p' | awk '{ print $1 / 1.048576 }')
    rung RpmaChannel "$rtt" "$tput"
done
say done
touch "$results/done"
