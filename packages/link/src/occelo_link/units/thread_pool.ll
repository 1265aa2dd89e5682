; Made by llvm_from_c.py from sources with the digest 84681b115311ce893fd5c663953ac1c1
; with ziglang 0.17.1

%struct.anon = type { ptr, ptr, ptr, ptr, i64, i64, i64, i64, i64, i64, i64, ptr, ptr, ptr, ptr, i64, i64, i64, [48 x i8], i64, [56 x i8], i64, [56 x i8], [256 x %struct.worker] }
%struct.worker = type { i64, ptr, [48 x i8] }

@pool = internal global %struct.anon zeroinitializer, align 64

define ptr @thread_pool() nounwind {
  ret ptr @pool
}

define void @forget_threads() nounwind {
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), align 64
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), align 64
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 72), align 8
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  ret void
}

define i64 @parallel(ptr %0, ptr %1, i64 %2, i64 %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8) {
  %10 = getelementptr inbounds nuw i8, ptr %4, i64 16
  %11 = load ptr, ptr %10, align 8
  %12 = icmp eq i64 %8, 0
  %13 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 32), align 32
  %14 = select i1 %12, i64 %13, i64 %8
  %15 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 40), align 8
  %16 = icmp eq i64 %15, 0
  %17 = tail call i64 @llvm.smin.i64(i64 %14, i64 %15)
  %18 = select i1 %16, i64 %14, i64 %17
  %19 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 48), align 16
  %20 = sdiv i64 %6, %19
  %21 = add i64 %20, 1
  %22 = tail call i64 @llvm.smin.i64(i64 %18, i64 %21)
  br label %23

23:
  %24 = phi i64 [ %2, %9 ], [ %27, %155 ]
  %25 = sub i64 %3, %24
  %26 = icmp sgt i64 %25, %7
  %27 = add i64 %24, %7
  %28 = select i1 %26, i64 %27, i64 %3
  %29 = sub i64 %28, %24
  %30 = tail call i64 @llvm.smin.i64(i64 %22, i64 %29)
  %31 = tail call i64 @llvm.smin.i64(i64 %30, i64 256)
  %32 = icmp sgt i64 %30, 1
  br i1 %32, label %33, label %152

33:
  %34 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 72), i64 1 acquire, align 8
  %35 = icmp eq i64 %34, 0
  br i1 %35, label %36, label %152

36:
  %37 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  %38 = icmp eq ptr %37, null
  br i1 %38, label %39, label %47

39:
  %40 = load ptr, ptr @pool, align 64
  %41 = tail call ptr %40()
  %42 = icmp eq ptr %41, null
  br i1 %42, label %43, label %44

43:
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  br label %78

44:
  %45 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %46 = tail call i32 %45(ptr %41, i32 1)
  store ptr %41, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  br label %47

47:
  %48 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  %49 = add i64 %48, 1
  %50 = icmp slt i64 %49, %31
  br i1 %50, label %51, label %74

51:
  %52 = phi i64 [ %72, %69 ], [ %49, %47 ]
  %53 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 %52
  store i64 0, ptr %53, align 64
  %54 = load ptr, ptr @pool, align 64
  %55 = tail call ptr %54()
  %56 = icmp eq ptr %55, null
  br i1 %56, label %57, label %59

57:
  %58 = getelementptr inbounds nuw i8, ptr %53, i64 8
  store ptr null, ptr %58, align 8
  br label %74

59:
  %60 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %61 = tail call i32 %60(ptr %55, i32 1)
  %62 = getelementptr inbounds nuw i8, ptr %53, i64 8
  store ptr %55, ptr %62, align 8
  %63 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 24), align 8
  %64 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  %65 = add i64 %64, 1
  %66 = inttoptr i64 %65 to ptr
  %67 = tail call i64 %63(ptr @run_worker, ptr %66)
  %68 = icmp eq i64 %67, -1
  br i1 %68, label %74, label %69

69:
  %70 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  %71 = add i64 %70, 1
  store i64 %71, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  %72 = add i64 %70, 2
  %73 = icmp slt i64 %72, %31
  br i1 %73, label %51, label %74

74:
  %75 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  %76 = add i64 %75, 1
  %77 = tail call i64 @llvm.smin.i64(i64 %76, i64 %31)
  br label %78

78:
  %79 = phi i64 [ %77, %74 ], [ 1, %43 ]
  %80 = shl i64 %79, 2
  %81 = sdiv i64 %29, %80
  %82 = add i64 %81, 1
  %83 = icmp sgt i64 %82, 255
  %84 = and i64 %81, 9223372036854775744
  %85 = add nuw i64 %84, 64
  %86 = select i1 %83, i64 %85, i64 %82
  %87 = add i64 %29, -1
  %88 = add i64 %87, %86
  %89 = sdiv i64 %88, %86
  store ptr %0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  store ptr %1, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104), align 8
  store i64 %24, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  store i64 %28, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  store ptr %4, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112), align 16
  store i64 %86, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 136), align 8
  store atomic i64 %79, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 80) monotonic, align 16
  %90 = shl i64 %89, 1
  store atomic i64 %90, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) monotonic, align 64
  store atomic i64 %89, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192) seq_cst, align 64
  %91 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %92 = add i64 %91, 1
  store i64 %92, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %93 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 80) monotonic, align 16
  %94 = icmp sgt i64 %93, 1
  br i1 %94, label %95, label %110

95:
  %96 = icmp eq i64 %93, 2
  %97 = select i1 %96, i64 2, i64 3
  br label %98

98:
  %99 = phi i64 [ %108, %107 ], [ 1, %95 ]
  %100 = getelementptr inbounds nuw %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 %99
  %101 = atomicrmw xchg ptr %100, i64 0 seq_cst, align 64
  %102 = icmp eq i64 %101, 0
  br i1 %102, label %107, label %103

103:
  %104 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 16), align 16
  %105 = getelementptr inbounds nuw i8, ptr %100, i64 8
  %106 = load ptr, ptr %105, align 8
  tail call void %104(ptr %106)
  br label %107

107:
  %108 = add nuw nsw i64 %99, 1
  %109 = icmp eq i64 %108, %97
  br i1 %109, label %110, label %98

110:
  %111 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192) monotonic, align 64
  %112 = icmp sgt i64 %111, 0
  br i1 %112, label %113, label %136

113:
  %114 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), i64 1 acquire, align 64
  %115 = add i64 %114, -1
  %116 = icmp slt i64 %115, 0
  br i1 %116, label %136, label %117

117:
  %118 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  %119 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 136), align 8
  %120 = mul i64 %119, %115
  %121 = add i64 %120, %118
  %122 = add i64 %121, %119
  %123 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %124 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104), align 8
  %125 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  %126 = tail call i64 @llvm.smin.i64(i64 %122, i64 %125)
  %127 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112), align 16
  tail call void %123(ptr %124, i64 %121, i64 %126, ptr %127)
  %128 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), i64 2 acq_rel, align 64
  %129 = icmp eq i64 %128, 3
  br i1 %129, label %130, label %133

130:
  %131 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 16), align 16
  %132 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  tail call void %131(ptr %132)
  br label %133

133:
  %134 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192) monotonic, align 64
  %135 = icmp sgt i64 %134, 0
  br i1 %135, label %113, label %136

136:
  br label %140

137:
  %138 = add nuw nsw i64 %141, 1
  %139 = icmp eq i64 %138, 16384
  br i1 %139, label %144, label %140

140:
  %141 = phi i64 [ %138, %137 ], [ 0, %136 ]
  %142 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) acquire, align 64
  %143 = icmp eq i64 %142, 0
  br i1 %143, label %151, label %137

144:
  %145 = atomicrmw or ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), i64 1 acq_rel, align 64
  %146 = icmp eq i64 %145, 0
  br i1 %146, label %151, label %147

147:
  %148 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %149 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  %150 = tail call i32 %148(ptr %149, i32 1)
  br label %151

151:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 72) release, align 8
  br label %153

152:
  tail call void %0(ptr %1, i64 %24, i64 %28, ptr %4)
  br label %153

153:
  %154 = icmp slt i64 %28, %3
  br i1 %154, label %155, label %158

155:
  %156 = tail call i64 %11(ptr %5)
  %157 = icmp eq i64 %156, 0
  br i1 %157, label %23, label %158

158:
  %159 = phi i64 [ 0, %153 ], [ %156, %155 ]
  ret i64 %159
}

define internal void @run_worker(ptr %0) {
  %2 = ptrtoint ptr %0 to i64
  %3 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 %2
  %4 = getelementptr inbounds nuw i8, ptr %3, i64 8
  %5 = shl i64 %2, 1
  %6 = or disjoint i64 %5, 1
  %7 = add i64 %5, 2
  %8 = icmp ne i64 %5, 9223372036854775806
  br label %9

9:
  store atomic i64 1, ptr %3 seq_cst, align 64
  %10 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 80) monotonic, align 16
  %11 = icmp sgt i64 %10, %2
  br i1 %11, label %12, label %18

12:
  %13 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192) seq_cst, align 64
  %14 = icmp sgt i64 %13, 0
  br i1 %14, label %15, label %18

15:
  %16 = atomicrmw xchg ptr %3, i64 0 seq_cst, align 64
  %17 = icmp eq i64 %16, 0
  br i1 %17, label %18, label %22

18:
  %19 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %20 = load ptr, ptr %4, align 8
  %21 = tail call i32 %19(ptr %20, i32 1)
  br label %22

22:
  %23 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 80) monotonic, align 16
  %24 = icmp sgt i64 %23, %2
  br i1 %24, label %25, label %72

25:
  %26 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192) seq_cst, align 64
  %27 = icmp sgt i64 %26, 0
  br i1 %27, label %28, label %72

28:
  %29 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 80) monotonic, align 16
  %30 = icmp slt i64 %6, %29
  %31 = select i1 %8, i1 %30, i1 false
  br i1 %31, label %32, label %46

32:
  %33 = phi i64 [ %42, %41 ], [ %6, %28 ]
  %34 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 %33
  %35 = atomicrmw xchg ptr %34, i64 0 seq_cst, align 64
  %36 = icmp eq i64 %35, 0
  br i1 %36, label %41, label %37

37:
  %38 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 16), align 16
  %39 = getelementptr inbounds nuw i8, ptr %34, i64 8
  %40 = load ptr, ptr %39, align 8
  tail call void %38(ptr %40)
  br label %41

41:
  %42 = add nsw i64 %33, 1
  %43 = icmp slt i64 %33, %7
  %44 = icmp slt i64 %42, %29
  %45 = select i1 %43, i1 %44, i1 false
  br i1 %45, label %32, label %46

46:
  %47 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192) monotonic, align 64
  %48 = icmp sgt i64 %47, 0
  br i1 %48, label %49, label %72

49:
  %50 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), i64 1 acquire, align 64
  %51 = add i64 %50, -1
  %52 = icmp slt i64 %51, 0
  br i1 %52, label %72, label %53

53:
  %54 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  %55 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 136), align 8
  %56 = mul i64 %55, %51
  %57 = add i64 %56, %54
  %58 = add i64 %57, %55
  %59 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %60 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104), align 8
  %61 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  %62 = tail call i64 @llvm.smin.i64(i64 %58, i64 %61)
  %63 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112), align 16
  tail call void %59(ptr %60, i64 %57, i64 %62, ptr %63)
  %64 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), i64 2 acq_rel, align 64
  %65 = icmp eq i64 %64, 3
  br i1 %65, label %66, label %69

66:
  %67 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 16), align 16
  %68 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  tail call void %67(ptr %68)
  br label %69

69:
  %70 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192) monotonic, align 64
  %71 = icmp sgt i64 %70, 0
  br i1 %71, label %49, label %72

72:
  br label %9
}

declare i64 @llvm.smin.i64(i64, i64)

